package dump

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/chatd/chatd/chat/announce"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/erase"
	"github.com/chatd/chatd/chat/files"
	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/chat/retention"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/queue"

	"github.com/chatd/chatd/chat"
)

// subject is what the payload of a task says of where it goes.
type subject struct {
	Group, User, Erasure, Schedule, Webhook string

	Users []json.RawMessage
	Body  struct{ Data struct{ Group string } }
}

// learnTask notes where a task goes.
func (r *repartition) learnTask(id, spec string) error {
	kind, payload, ok := readTask(spec)
	if !ok {
		return nil // it cannot be read: the engine turns it into a dead letter wherever it is
	}
	if strings.HasPrefix(kind, queue.KindPeriodic) {
		_, periodic, _ := strings.Cut(id, "-periodic-")
		r.settle(id, r.home(periodic))
		return nil
	}
	var s subject
	if err := json.Unmarshal([]byte(payload), &s); err != nil && kind != webhook.TaskDeliver {
		return nil
	}
	h := home{partition: dropped}
	switch kind {
	case schedule.TaskFire, schedule.TaskForget, schedule.TaskFailed, erase.TaskForget:
		return nil // its id says it
	case erase.TaskErase:
		r.erasing[digestOf(id)] = s.Erasure
		r.note(noteBytes + len(s.Erasure))
		return nil
	case announce.TaskPart:
	case announce.TaskRun, webhook.TaskSpread:
		h.partition = 0
	case archive.TaskWalk, archive.TaskCompare, retention.TaskWalk, files.TaskCompare:
		h = r.home(kind)
	case notify.TaskInbox, notify.TaskPush:
		h = r.home(s.User)
	case notify.TaskDispatch:
		var first notify.Recipient
		if len(s.Users) > 0 {
			_ = json.Unmarshal(s.Users[0], &first)
		}
		h = r.home(cmp.Or(s.Group, first.User))
	case webhook.TaskDeliver:
		h = r.home(cmp.Or(s.Body.Data.Group, s.Webhook))
	case chat.TaskMention, chat.TaskMember, chat.TaskTrim, chat.TaskCleanup, chat.TaskUnreact, notify.TaskFanOut, webhook.TaskEvents,
		webhook.TaskEnded, webhook.TaskWithdraw,
		archive.TaskArchive, retention.TaskRetain, erase.TaskHeld, files.TaskRemoved, files.TaskExpire, files.TaskGone:
		h = r.home(s.Group)
	default:
		return fmt.Errorf("a task of the kind %s: this chatd does not know to which partition it goes; import the file with the number that it has, %d",
			kind, r.from)
	}
	if strings.Contains(id, "~") {
		h.bytes = int32(len(spec)) //nolint:gosec // at most 1 MiB and a line
	}
	r.settle(id, h)
	return nil
}

// rewrittenTask makes a task name the new id of its schedule or erasure. Whatever else its payload holds stays.
func (r *repartition) rewrittenTask(spec string) string {
	kind, payload, _ := readTask(spec)
	var name string
	switch kind {
	case schedule.TaskFire, schedule.TaskForget, schedule.TaskFailed:
		name = "schedule"
	case erase.TaskErase, erase.TaskForget:
		name = "erasure"
	default:
		return spec
	}
	var s subject
	if json.Unmarshal([]byte(payload), &s) != nil {
		return spec
	}
	old := cmp.Or(s.Schedule, s.Erasure)
	id, _ := r.renamed(old)
	head := strings.TrimSuffix(spec, payload)
	return head + strings.Replace(payload, fmt.Sprintf("%q:%q", name, old), fmt.Sprintf("%q:%q", name, id), 1)
}

// readTask reads a specification: see queue/docs/reference.md.
func readTask(spec string) (kind, payload string, ok bool) {
	head, payload, ok := strings.Cut(spec, "\n")
	fields := strings.SplitN(head, " ", 7)
	if !ok || len(fields) < 7 {
		return "", "", false
	}
	return fields[5], payload, true
}

// newTask writes a specification of a task that may run at once.
func newTask(priority, kind, payload string, atMs int64) string {
	if p, err := queue.ParsePriority(priority); err != nil {
		priority = queue.Normal.String()
	} else {
		priority = p.String()
	}
	return fmt.Sprintf("%s 0 0 %d %d %s \n%s", priority, atMs, atMs, kind, payload)
}
