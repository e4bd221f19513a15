package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/announce"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/blocks"
	"github.com/chatd/chatd/chat/buttons"
	"github.com/chatd/chatd/chat/erase"
	"github.com/chatd/chatd/chat/expiry"
	"github.com/chatd/chatd/chat/files"
	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/chat/quorum"
	"github.com/chatd/chatd/chat/reports"
	"github.com/chatd/chatd/chat/retention"
	"github.com/chatd/chatd/chat/reviews"
	"github.com/chatd/chatd/chat/rules"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/chat/stream"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue/script"
	"github.com/chatd/chatd/store/layout"
)

// luaTasks are the functions of lua/lib/task_*.lua, each with a call of it and the task that Go has to find: its kind, and a
// payload of which every field is set but those that may be left out. A nil payload was made by Go.
var luaTasks = map[string]struct {
	file, call string
	kind       string
	priority   chat.Priority
	payload    any
	optional   []string
}{
	"enqueue_block": {"block", `id, 'ann', 'bob', 1`, blocks.TaskBlock, chat.PriorityHigh, &blocks.Task{}, nil},
	"enqueue_trim":  {"trim", `id, 'e', 1`, chat.TaskTrim, chat.PriorityLow, &chat.GroupTask{}, nil},
	"enqueue_reported": {"report", `id, '{"id":"r","group":"g","target":7,"reason":"spam","at":"2026-01-02T03:04:05.678Z"}', 1`, reports.TaskReported,
		chat.PriorityNormal, &reports.ReportedTask{}, nil},
	"enqueue_quorum": {"quorum", `id, 'e', 7, 0, 1`, quorum.TaskQuorum, chat.PriorityNormal, &quorum.Task{}, nil},
	"enqueue_pressed": {"pressed", `id, '{"id":"r","group":"g","message":7,"from":"bot","user":"bob","action":"ok","at":"2026-01-02T03:04:05.678Z"}', 1`, buttons.TaskPressed,
		chat.PriorityNormal, &buttons.PressedTask{}, nil},
	"enqueue_reports_end": {"report", `id, 5, 1`, reports.TaskEnd, chat.PriorityLow, &reports.EndTask{}, nil},
	"enqueue_requested":   {"requested", `id, 'e', 'ann', '"hi"', '5', 1`, rules.TaskRequested, chat.PriorityNormal, &rules.RequestedTask{}, nil},
	"enqueue_review": {"review", `'r', '{"group":"g","user":"bob","review":"r","from":"ann","kind":"text","client_id":"c","at_ms":1,"state":"waiting","reason":"odd","id":7}', 1`,
		reviews.TaskReview, chat.PriorityNormal, &reviews.Report{}, nil},
	"enqueue_reviews": {"review", `id, '{"group":"g","user":"bob"}', 5, 1`, reviews.TaskOver, chat.PriorityLow, &reviews.OverTask{}, nil},
	"enqueue_purge":   {"purge", `id, 'e', 'ann', 'bob', 'k', 1, '9', 7200000`, rules.TaskPurge, chat.PriorityNormal, &rules.PurgeTask{}, nil},
	"enqueue_stream":  {"stream", `id, 'e', '7', 5, 1`, stream.TaskCut, chat.PriorityNormal, &stream.CutTask{}, nil},
	"enqueue_unreact": {"unreact", `id, 'e', '7', '8', '2026-01-02T03:04:05.678Z', '9', 1`, chat.TaskUnreact, chat.PriorityHigh, &chat.UnreactTask{}, nil},
	"enqueue_mention": {"mention", `id, 'e', '7', 'ann', {'bob', 'eve'}, 1`, chat.TaskMention, chat.PriorityHigh, &chat.MentionTask{}, nil},
	"enqueue_member": {"member", `id, 'e', '7', 'ann', 'joined', {'bob', 'eve'}, '9', 1`, chat.TaskMember, chat.PriorityHigh,
		&chat.MemberTask{}, nil},
	"enqueue_cleanup": {"deleted", `id, 'e', 1`, chat.TaskCleanup, chat.PriorityNormal, &chat.GroupTask{}, nil},
	"enqueue_ended": {"deleted", `id, 'e', 'ann', 1, {'{"id":1}', '{"id":2}'}, {'"w":3'}`, webhook.TaskEnded, chat.PriorityNormal,
		&webhook.EndedTask{}, nil},
	"enqueue_notify":        {"log", `id, 'e', 5, 1`, notify.TaskFanOut, chat.PriorityNormal, &notify.FanOutTask{}, []string{"Again", "Thread"}},
	"enqueue_notify_thread": {"log", `id, 'e', '7', 5, 1`, notify.TaskFanOut, chat.PriorityNormal, &notify.FanOutTask{}, []string{"Again"}},
	"enqueue_events":        {"log", `id, 'e', 1`, webhook.TaskEvents, chat.PriorityNormal, &webhook.EventsTask{}, []string{"Webhook"}},
	"enqueue_behind":        {"log", `id, 'e', 'w', '7', 1`, webhook.TaskEvents, chat.PriorityNormal, &webhook.EventsTask{}, nil},
	"enqueue_archive":       {"archive", `id, 'e', 0, 1`, archive.TaskArchive, chat.PriorityLow, &chat.GroupTask{}, nil},
	"enqueue_retain":        {"retain", `id, 'e', 7, 5, 1`, retention.TaskRetain, chat.PriorityLow, &retention.Task{}, nil},
	"enqueue_expire":        {"expire", `id, 'e', 5, 1`, expiry.TaskExpire, chat.PriorityHigh, &chat.GroupTask{}, nil},
	"enqueue_file_removed":  {"file", `'f', 'ann', 1`, files.TaskRemoved, chat.PriorityLow, &files.RemovedTask{}, nil},
	"enqueue_file_expire":   {"file", `id, 5, 1`, files.TaskExpire, chat.PriorityLow, &files.GroupTask{}, nil},
	"enqueue_file_check":    {"file", `id, 5, 1`, files.TaskExpire, chat.PriorityLow, &files.GroupTask{}, nil},
	"enqueue_file_trim":     {"file", `id, 1`, files.TaskExpire, chat.PriorityLow, &files.GroupTask{}, nil},
	"enqueue_file_gone":     {"file", `id, 1`, files.TaskGone, chat.PriorityLow, &files.GroupTask{}, nil},
	"enqueue_notify_inbox": {"notify_inbox", `id, 'bob', 'low', 5, 1`, notify.TaskInbox, chat.PriorityLow, &notify.InboxTask{},
		[]string{"Again"}},
	"enqueue_deliveries": {"deliver", `id, 'g', 'e', 7, 'high', {delivery_to('bob', 3, 2, '6'), delivery_to('eve', 1, 1, '6')}, 1, 5`,
		notify.TaskDispatch, chat.PriorityHigh, &notify.DispatchTask{}, nil},
	"enqueue_inbox_deliveries": {"deliver", `id, 'low', '{}', 1`, notify.TaskDispatch, chat.PriorityLow, nil, nil},
	"enqueue_delivery":         {"webhook", `core, id, '{}', 1`, webhook.TaskDeliver, chat.PriorityNormal, nil, nil},
	"enqueue_webhooks":         {"webhook", `core, id, 7, 1`, webhook.TaskSpread, chat.PriorityHigh, &webhook.SpreadTask{}, nil},
	"enqueue_withdraw":         {"withdraw", `id, 'e', {'7', '8'}, 1`, webhook.TaskWithdraw, chat.PriorityHigh, &webhook.WithdrawTask{}, nil},
	"enqueue_occurrence":       {"schedule", `'3', 5, 1`, schedule.TaskFire, chat.PriorityHigh, &schedule.FireTask{}, nil},
	"enqueue_end":              {"schedule", `5, 1`, schedule.TaskForget, chat.PriorityLow, &schedule.FireTask{}, []string{"Version"}},
	"enqueue_failed": {"schedule", `'3', '{"schedule":"s","version":3,"owner":"ann","at_ms":1', 'missed', 1`, schedule.TaskFailed,
		chat.PriorityNormal, &schedule.FailedTask{}, []string{"Group", "User"}},
	"enqueue_erase":       {"erasure", `id, 1`, erase.TaskErase, chat.PriorityLow, &erase.Task{}, nil},
	"enqueue_erase_held":  {"erase_held", `id, 'e', 1`, erase.TaskHeld, chat.PriorityLow, &chat.GroupTask{}, nil},
	"enqueue_erasure_end": {"erasure", `5, 1`, erase.TaskForget, chat.PriorityLow, &erase.Task{}, nil},
	"enqueue_run":         {"announce", `id, '{}', 'low', 5, 1`, announce.TaskRun, chat.PriorityLow, nil, nil},
	"enqueue_part":        {"announce", `id, '{}', 'high', 1`, announce.TaskPart, chat.PriorityHigh, nil, nil},
}

// subjects are the fields of payloads that say where a task lives.
var subjects = map[layout.Home]string{layout.WithGroup: "group", layout.WithUser: "user", layout.WithSchedule: "schedule", layout.WithErasure: "erasure"}

// TestTasksOfScriptsAreThoseOfTheDomain: what a script enqueues has a kind and a payload that the domain knows, and names what it lives with.
func TestTasksOfScriptsAreThoseOfTheDomain(t *testing.T) {
	server := redistest.Start(t)
	s, err := Open(t.Context(), Options{URL: server.URL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for name, test := range luaTasks {
		source := "-- KEYS  core:enqueue\n-- ARGV  id group schedule_id erasure_id\n-- include: task_" + test.file + "\n" +
			name + "(" + test.call + ")\nreturn 'done'\n"
		id := s.keys.part(0).taskID()
		c := script.Bind(overlay(t, source).Load("t/t"), partNames).On(s.keys.part(0)).
			Arg("id", id).Arg("group", "g").Arg("schedule_id", id).Arg("erasure_id", id)
		if err := errors.Join(c.Err(), s.conn.Client().Eval(t.Context(), c.Script.Text(), c.Keys, c.Args...).Err()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		found, err := s.queues[coreQueue].Get(t.Context(), taskOf(name, id))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if found.Kind != test.kind || found.Priority != priorityOf(test.priority) {
			t.Errorf("%s: got a task %s of priority %s, want %s of %s", name, found.Kind, found.Priority, test.kind, test.priority)
		}
		listed, ok := layout.Tasks[found.Kind]
		if !ok {
			t.Errorf("%s: package layout does not list the kind %s", name, found.Kind)
		}
		if test.payload == nil {
			continue
		}
		if field := subjects[listed.Home]; field != "" && !bytes.Contains(found.Payload, []byte(`"`+field+`":"`)) {
			t.Errorf("%s: %s is to live with %s, which it does not name", name, found.Payload, listed.Home)
		}
		d := json.NewDecoder(bytes.NewReader(found.Payload))
		d.DisallowUnknownFields()
		if err := d.Decode(test.payload); err != nil {
			t.Errorf("%s: %s: %v", name, found.Payload, err)
		}
		for _, field := range unset(reflect.ValueOf(test.payload).Elem(), test.optional) {
			t.Errorf("%s: %s sets no %s", name, found.Payload, field)
		}
	}
}

// taskOf is the id under which a builder enqueues: that of a schedule's task follows from its id.
func taskOf(name, id string) string {
	switch name {
	case "enqueue_occurrence":
		return id + ".3"
	case "enqueue_failed":
		return id + ".3.failed"
	case "enqueue_behind":
		return id + "-behind:g:e:w:7"
	case "enqueue_archive":
		return id + "~archive"
	case "enqueue_review":
		return "p00-review:r"
	case "enqueue_file_removed":
		return "p00-file:f"
	case "enqueue_end", "enqueue_erasure_end":
		return id + ".end"
	}
	return id
}

// overlay is the library of this package with one more script.
func overlay(t *testing.T, source string) *script.Library {
	t.Helper()
	files := fstest.MapFS{"lua/t/t.lua": {Data: []byte(source)}}
	for _, file := range luaSources(t, "lua/lib") {
		text, err := luaFiles.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		files[file] = &fstest.MapFile{Data: text}
	}
	return &script.Library{Files: files, Shared: library.Shared, Groups: library.Groups}
}

func luaSources(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := fs.WalkDir(luaFiles, dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, file)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	return files
}

// unset lists the fields that are zero, of a struct and of what it holds.
func unset(v reflect.Value, optional []string) (names []string) {
	for i := range v.NumField() {
		field, name := v.Field(i), v.Type().Field(i).Name
		if field.Kind() == reflect.Slice && field.Len() > 0 && field.Index(0).Kind() == reflect.Struct {
			names = append(names, unset(field.Index(0), optional)...)
		}
		if field.Kind() == reflect.Struct {
			names = append(names, unset(field, optional)...)
		} else if field.IsZero() && !strings.Contains(" "+strings.Join(optional, " ")+" ", " "+name+" ") {
			names = append(names, name)
		}
	}
	return names
}

var builder = regexp.MustCompile(`(?m)^local function (enqueue_\w+)\(`)

// TestTasksOfScriptsAreMadeOnce: kinds and payloads stand in lua/lib/task_*.lua, and each of those is tested above.
func TestTasksOfScriptsAreMadeOnce(t *testing.T) {
	found := 0
	for _, file := range luaSources(t, "lua") {
		text, err := luaFiles.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(path.Base(file), "task_") {
			if strings.Contains(string(text), "task_enqueue(") {
				t.Errorf("%s calls task_enqueue: lua/lib/task_*.lua have a function for each kind of task", file)
			}
			continue
		}
		for _, match := range builder.FindAllStringSubmatch(string(text), -1) {
			found++
			if test, ok := luaTasks[match[1]]; !ok || "lua/lib/task_"+test.file+".lua" != file {
				t.Errorf("%s: %s is not tested against the types of the domain", file, match[1])
			}
		}
	}
	if found != len(luaTasks) {
		t.Errorf("got %d functions, want %d", found, len(luaTasks))
	}
}
