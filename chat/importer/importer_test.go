package importer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/importer"
	"github.com/chatd/chatd/internal/chattest"
)

// source is a file in memory.
func source(text string) importer.Source {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

// past is a file of n messages, a minute apart, with replies, reactions and edits.
func past(n int) string {
	var b strings.Builder
	at := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		l := map[string]any{"id": fmt.Sprint("m", i), "from": []string{"ann", "bob", "carl"}[i%3], "body": fmt.Sprint("text ", i),
			"sent_at": at.Add(time.Duration(i) * time.Minute).Format(time.RFC3339)}
		if i%4 == 3 {
			l["reply_to"] = fmt.Sprint("m", i-2)
		}
		if i%5 == 2 {
			l["reactions"] = map[string][]string{"👍": {"bob"}, "👍\uFE0F": {"dora", "bob"}, "🎉": {"ann"}}
		}
		if i%6 == 1 {
			l["edited_at"] = at.Add(time.Duration(i+1) * time.Minute).Format(time.RFC3339)
		}
		b.Write(chat.Encode(l))
		b.WriteByte('\n')
	}
	return b.String()
}

// long is a file of n messages that are so long that some 80 share a batch.
func long(n int) string {
	return strings.ReplaceAll(past(n), `"body":"`, `"body":"`+strings.Repeat("long ", 2600))
}

// world is a service with an archive in memory.
type world struct {
	*chattest.Bench
	db *chattest.Archive
	*importer.Service
}

func newWorld(t *testing.T, archived bool) *world {
	w := &world{Bench: chattest.New(t), db: chattest.NewArchive("test")}
	if !archived {
		w.Service = importer.New(w.Bench.Service, w.Store, nil, chat.DefaultLimits())
		return w
	}
	w.Must(w.Store.WantArchive(w.Ctx, "db", time.Hour, true))
	w.Service = importer.New(w.Bench.Service, w.Store, w.db, chat.DefaultLimits())
	return w
}

func draft(keep int64) importer.Draft {
	return importer.Draft{Group: "old", Name: "Old times", Owner: "ann", Keep: &keep}
}

// log is what a user reads of a group, from its first message on.
func (w *world) log(user string) (entries []chat.Entry) {
	w.T.Helper()
	served := chat.New(archive.Serve(w.Store, w.db, func(context.Context, string, int64) error { return nil }, chat.DefaultLimits()), chat.Options{Limits: chat.DefaultLimits()})
	after := "0"
	for {
		b, _, err := served.Pull(w.Ctx, chattest.As(user), "old", chat.PullQuery{After: &after, Limit: 100})
		w.Must(err)
		if !b.Complete {
			w.T.Fatalf("the page after %s is not complete", after)
		}
		for _, m := range b.Messages {
			var e chat.Entry
			w.Must(json.Unmarshal(m.JSON, &e))
			entries = append(entries, e)
		}
		if after = b.Cursor; !b.HasMore {
			return entries
		}
	}
}

// archived is what the archive has of the group.
func (w *world) archived() []chat.Message {
	w.T.Helper()
	log, err := w.db.Read(w.Ctx, archive.Log{Group: "old", Epoch: w.info("ann").Epoch}, archive.Span{From: 1, To: chat.IDMax, Limit: 100_000, BytesMax: 1 << 30})
	w.Must(err)
	return log
}

func (w *world) info(user string) chat.Info {
	w.T.Helper()
	infos, err := w.Store.Infos(w.Ctx, user, []string{"old"})
	w.Must(err)
	return infos[0]
}

func TestImport(t *testing.T) {
	w := newWorld(t, true)
	const messages = 30
	got, err := w.Import(w.Ctx, source(past(messages)), draft(8))
	w.Must(err)
	if want := (importer.Result{Messages: messages, Reactions: 18, Members: 4}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	log := w.log("dora")
	if len(log) != messages+18+4 {
		t.Fatalf("got %d entries", len(log))
	}
	// The file again, as the log has it.
	var was []string
	ids := map[int64]string{}
	for i, e := range log {
		if e.ID != int64(i+1) || e.Group != "old" {
			t.Fatalf("entry %d is %+v", i+1, e)
		}
		switch e.Kind {
		case chat.Notice:
			was = append(was, fmt.Sprint(e.Notice, " ", e.User))
		case chat.Reaction:
			was = append(was, fmt.Sprint(e.From, " ", e.Emoji, " ", ids[e.Target]))
		default:
			ids[e.ID] = *e.Body
			was = append(was, fmt.Sprint(e.From, " ", *e.Body, " > ", ids[e.ReplyTo], " ", e.SentAt, " ", e.EditedAt != nil))
		}
	}
	want := []string{"created ann", "joined bob", "joined carl", "joined dora"}
	for i := range messages {
		reply := ""
		if i%4 == 3 {
			reply = fmt.Sprint("text ", i-2)
		}
		body := fmt.Sprint("text ", i)
		at := chat.Time{Time: time.Date(2020, 1, 1, 0, i, 0, 0, time.UTC)}
		want = append(want, fmt.Sprint([]string{"ann", "bob", "carl"}[i%3], " ", body, " > ", reply, " ", at, " ", i%6 == 1))
		if i%5 == 2 {
			want = append(want, "ann 🎉 "+body, "bob 👍 "+body, "dora 👍 "+body)
		}
	}
	if diff := cmp.Diff(want, was); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	info := w.info("bob")
	if info.First != 1 || info.Held != info.Last-8+1 || info.Unread != 0 || info.Name != "Old times" {
		t.Errorf("got %+v", info)
	}
	users := []string{"ann", "bob", "carl", "dora"}
	chattest.Done(t, w.Handlers()[chat.TaskMember], chat.MemberTask{Group: "old", Epoch: info.Epoch, ID: 1, By: "ann", What: chat.MemberImported, Users: users})
	for _, user := range users {
		groups, err := w.Groups(w.Ctx, chattest.As(user), 10, "")
		w.Must(err)
		if len(groups.Items) != 1 || groups.Items[0].Unread != 0 {
			t.Errorf("%s has the groups %+v", user, groups.Items)
		}
		if items := w.ItemLines(user); len(items) > 0 {
			t.Errorf("%s got %q", user, items)
		}
	}

	again, err := w.Import(w.Ctx, source(past(messages)), draft(8))
	got.Before = true
	if w.Must(err); again != got {
		t.Errorf("again: got %+v, want %+v", again, got)
	}
	if _, err := w.Import(w.Ctx, source(past(messages+1)), draft(8)); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("another file: got %v", err)
	}
}

func TestImportNamesItsMembers(t *testing.T) {
	w := newWorld(t, true)
	d := draft(5)
	d.Members = []string{"zoe", "ann", "bob", "zoe"}
	_, err := w.Import(w.Ctx, source(past(10)), d)
	w.Must(err)
	members, err := w.Members(w.Ctx, chattest.As("zoe"), "old", 10, "")
	w.Must(err)
	var got []string
	for _, m := range members.Items {
		got = append(got, m.User+" "+string(m.Role))
	}
	if want := []string{"ann owner", "zoe member", "bob member"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestImportNamesAllFaults: one pass over a file names the first hundred lines that are wrong, and a reply to one of them is no other.
func TestImportNamesAllFaults(t *testing.T) {
	w := newWorld(t, true)
	const at = `"sent_at":"2020-01-01T00:00:00Z"`
	file := "\ufeff" + `{"id":1,"from":"","body":"x",` + at + "}\n" +
		`{"from":"ann","body":"` + strings.Repeat("x", 2<<20) + `",` + at + "}\n" +
		`{"from":"ann","body":"a reply","reply_to":1,` + at + "}\n" +
		`{"from":"ann","body":"` + strings.Repeat("x", 20<<10) + `",` + at + "}\nhello"
	_, err := w.Import(w.Ctx, source(file), draft(8))
	want := []string{"line 1: from: want", "line 2: longer than 1048576 bytes", "line 4: body: at most 16384 bytes (CHATD_MAX_BODY)", "line 5: not a JSON object"}
	got := strings.Split(fmt.Sprint(err), "\n")
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("got %q, want %q", got, want)
	}
	_, err = w.Import(w.Ctx, source(strings.Repeat("hello\n", 500)), draft(8))
	if got := strings.Split(fmt.Sprint(err), "\n"); len(got) != 101 || !strings.HasPrefix(got[99], "line 100: ") || !strings.Contains(got[100], "the first 100") {
		t.Errorf("got %d lines: %q", len(got), got)
	}
}

// TestImportNamesAllFaultsOfALine: a line is named once, with everything that is wrong with it.
func TestImportNamesAllFaultsOfALine(t *testing.T) {
	const good = `{"id":1,"from":"ann","body":"x","sent_at":"2020-01-01T00:00:00Z"}` + "\n"
	long, users := strings.Repeat("x", 20<<10), make([]string, 60)
	for n := range users {
		users[n] = fmt.Sprint("user", n)
	}
	for _, c := range []struct {
		line map[string]any
		want []string
	}{
		{map[string]any{"from": "a b", "body": long, "sent_at": "yesterday", "mentions": users, "reactions": map[string]any{"none": []string{"c d"}}},
			[]string{"from: want 1 to 128", "sent_at: want a time", "body: at most 16384 bytes (CHATD_MAX_BODY)", "mentions: at most 50", "reactions: emoji: ", "reactions[0]: want 1 to 128"}},
		{map[string]any{"id": 1, "reply_to": 7, "kind": "edit", "edited_at": "tomorrow"},
			[]string{"from: want 1 to 128", "sent_at: missing", "kind: want text or data", "body: missing", "edited_at: want a time", "reply_to: no line above", "id: "}},
		{map[string]any{"from": "ann", "body": "", "data": long, "sent_at": "2019-01-01T00:00:00Z", "edited_at": "2018-01-01T00:00:00Z"},
			[]string{"body: missing", "data: at most 16384 bytes (CHATD_MAX_BODY)", "edited_at: before sent_at", "sent_at: 2019"}},
	} {
		w := newWorld(t, true)
		_, err := w.Import(w.Ctx, source(good+string(chat.Encode(c.line))), draft(8))
		text, ok := strings.CutPrefix(fmt.Sprint(err), "line 2: ")
		if got := strings.Split(text, "; "); !ok || !slices.EqualFunc(got, c.want, strings.HasPrefix) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// TestLenientImport cuts what is too long, drops what is surplus, and counts both.
func TestLenientImport(t *testing.T) {
	w := newWorld(t, true)
	reactions := map[string][]string{"\u2764\ufe0f": {"ann", "bob"}, "nothing of an emoji": {"ann"}}
	for _, emoji := range []string{"😀", "😁", "😂", "😃", "😄", "😅", "😆", "😇", "😈", "😉", "😊", "😋", "😌", "😍", "😎", "😏", "😐", "😑", "😒", "😓", "😔"} {
		reactions[emoji] = []string{"bob"}
	}
	var mentions []string
	for n := range 60 {
		mentions = append(mentions, fmt.Sprint("u", n))
	}
	line := func(body string) string {
		return string(chat.Encode(map[string]any{"from": "ann", "sent_at": "2020-01-01T00:00:00Z", "body": body, "mentions": mentions, "reactions": reactions})) + "\n"
	}
	file := "\ufeff" + line(strings.Repeat("é", 10_000)) + line("short")
	if _, err := w.Import(w.Ctx, source(file), draft(100)); err == nil || !strings.Contains(err.Error(), "line 2: ") {
		t.Fatalf("without lenient: got %v", err)
	}
	d := draft(100)
	d.Lenient = true
	got, err := w.Import(w.Ctx, source(file), d)
	w.Must(err)
	if want := (importer.Result{Messages: 2, Reactions: 2 * 21, Members: 2, Cut: 1, Dropped: 2 * (10 + 3)}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	first := w.log("bob")[2]
	if body := *first.Body; len(body) > 16<<10 || len(body) < 16<<10-4 || !strings.HasSuffix(body, "é…") || len(first.Mentions) != 50 {
		t.Errorf("got %d bytes, %q at the end, %d mentions", len(body), body[len(body)-8:], len(first.Mentions))
	}
}

// TestImportNamesTheLine: a file with a mistake is refused as a whole, and the error says where it is.
func TestImportNamesTheLine(t *testing.T) {
	w := newWorld(t, true)
	const good = `{"id":1,"from":"ann","sent_at":"2020-01-01T00:00:00Z","body":"one"}` + "\n"
	line := func(change string) string {
		return good + "\n" + `{"from":"bob","sent_at":"2020-01-01T00:00:01Z","body":"two"` + change + "}"
	}
	for name, test := range map[string]struct{ file, want string }{
		"an empty file":     {"\n\n", "no message"},
		"no JSON":           {good + "hello", "line 2: not a JSON object"},
		"a list":            {good + "[]", "line 2: want a JSON object"},
		"two objects":       {strings.TrimSpace(good) + good, "line 1: more than one JSON object"},
		"not UTF-8":         {good + "{\"body\":\"\xff\"}", "line 2: not valid UTF-8"},
		"an unknown field":  {line(`,"colour":"red"`), "line 3: colour: unknown field"},
		"a key of a retry":  {line(`,"client_id":"c"`), "line 3: client_id: unknown field"},
		"a file":            {line(`,"files":[{"id":"f"}]`), "line 3: files: only a message that is sent"},
		"a field of edits":  {line(`,"target":1`), "line 3: target: a message of kind text takes none"},
		"a wrong type":      {line(`,"mentions":"ann"`), "line 3: mentions: is a JSON string"},
		"no author":         {line(`,"from":""`), "line 3: from: want 1 to 128"},
		"a wrong author":    {line(`,"from":"a~b"`), "line 3: from: want 1 to 128"},
		"no time":           {`{"from":"ann","body":"x"}`, "line 1: sent_at: missing"},
		"a wrong time":      {line(`,"sent_at":"yesterday"`), "line 3: sent_at: want a time like"},
		"before 1970":       {`{"from":"ann","body":"x","sent_at":"1969-12-31T23:59:59Z"}`, "line 1: sent_at: before 1970"},
		"the future":        {line(`,"sent_at":"2999-01-01T00:00:00Z"`), "line 3: sent_at: in the future"},
		"out of order":      {line(`,"sent_at":"2019-12-31T23:59:59Z"`), "line 3: sent_at: 2019-12-31T23:59:59.000Z is before that of the line above, 2020-01-01T00:00:00.000Z: sort"},
		"edited before":     {line(`,"edited_at":"2019-12-31T23:59:59Z"`), "line 3: edited_at: before sent_at"},
		"an empty body":     {line(`,"body":""`), "line 3: body: missing or empty"},
		"a blank body":      {line(`,"body":"\u200b\u2800"`), "line 3: body: has no visible character"},
		"a long body":       {line(`,"body":"` + strings.Repeat("x", 16<<10+1) + `"`), "line 3: body: at most 16384 bytes"},
		"a long line":       {line(`,"data":"` + strings.Repeat("x", 1<<20) + `"`), "line 3: longer than 1048576 bytes"},
		"an edit":           {line(`,"kind":"edit"`), "line 3: kind: want text or data"},
		"a wrong mention":   {line(`,"mentions":["a b"]`), "line 3: mentions[0]: want 1 to 128"},
		"an unknown target": {line(`,"reply_to":2`), `line 3: reply_to: no line above has the id "2"`},
		"a second id":       {line(`,"id":"1"`), `line 3: id: "1" is that of a line above`},
		"an id of no type":  {line(`,"id":{}`), "line 3: id, reply_to: want a string or a number"},
		"an empty emoji":    {line(`,"reactions":{"":["ann"]}`), "line 3: reactions: emoji: want"},
		"a wrong reactor":   {line(`,"reactions":{":+1:":["a b"]}`), "line 3: reactions[0]: want 1 to 128"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.Import(w.Ctx, source(test.file), draft(5))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if w.db.Adds() > 0 || w.info("ann").Epoch != "" {
				t.Error("something of it was imported")
			}
		})
	}
}

func TestImportChecksTheGroup(t *testing.T) {
	w := newWorld(t, true)
	keep := int64(-1)
	for want, d := range map[string]importer.Draft{
		"owner: missing":               {Group: "old"},
		"owner: want 1 to 128":         {Group: "old", Owner: "a~b"},
		"group: want 1 to 128":         {Group: ".old", Owner: "ann"},
		"id: not a valid group id":     {Group: "public", Owner: "ann"},
		"name: control characters":     {Group: "old", Owner: "ann", Name: "a\nb"},
		"members[0]: want 1 to 128":    {Group: "old", Owner: "ann", Members: []string{"a b"}},
		"keep: want an integer from 0": {Group: "old", Owner: "ann", Keep: &keep},
		"the group made exists alread": {Group: "made", Owner: "ann"},
	} {
		w.MakeGroup(chat.GroupDraft{ID: "made", Key: "k"}, "ann")
		if _, err := w.Import(w.Ctx, source(past(3)), d); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	many := ""
	for i := range 1002 {
		many += fmt.Sprintf(`{"from":"user%d","sent_at":"2020-01-01T00:00:00Z","body":"hi"}`+"\n", i)
	}
	if _, err := w.Import(w.Ctx, source(many), draft(5)); err == nil || !strings.Contains(err.Error(), "more than 1000 users") {
		t.Errorf("got %v", err)
	}
	d := draft(5)
	d.Members = []string{"bob"}
	if _, err := w.Import(w.Ctx, source(many), d); err != nil {
		t.Errorf("with named members: got %v", err)
	}
}

// TestImportWithoutArchive: nothing is dropped silently.
func TestImportWithoutArchive(t *testing.T) {
	w := newWorld(t, false)
	if _, err := w.Import(w.Ctx, source(past(30)), draft(51)); err == nil || !strings.Contains(err.Error(), "52 entries") {
		t.Errorf("got %v", err)
	}
	_, err := w.Import(w.Ctx, source(past(30)), draft(52))
	w.Must(err)
	if info := w.info("bob"); info.First != 1 || info.Last != 52 || info.Unread != 0 {
		t.Errorf("got %+v", info)
	}
}

var errStopped = errors.New("stopped")

// stopping is an archive that fails after some calls, when what it was given is written (or not).
type stopping struct {
	*chattest.Archive
	after   int
	written bool
}

func (s *stopping) Add(ctx context.Context, b []archive.Batch) error {
	if s.after--; s.after < 0 {
		if s.written {
			return errors.Join(errStopped, s.Archive.Add(ctx, b))
		}
		return errStopped
	}
	return s.Archive.Add(ctx, b)
}

// TestImportGoesOn: one that stopped anywhere goes on when it is repeated, without a hole or a repeat.
func TestImportGoesOn(t *testing.T) {
	file := long(300)
	for _, written := range []bool{false, true} {
		for after := range 3 {
			w := newWorld(t, true)
			broken := importer.New(w.Bench.Service, w.Store, &stopping{w.db, after, written}, chat.DefaultLimits())
			if _, err := broken.Import(w.Ctx, source(file), draft(100)); !errors.Is(err, errStopped) {
				t.Fatalf("got %v", err)
			}
			if w.info("ann").Epoch != "" {
				t.Fatal("the group is there already")
			}
			before := w.db.Adds()
			_, err := w.Import(w.Ctx, source(file), draft(100))
			w.Must(err)
			if again := w.db.Adds() - before; after > 0 && again >= before+8-after {
				t.Errorf("stopped after %d: %d calls more", after, again)
			}
			log, texts := w.archived(), 0
			held, _, err := w.Store.Range(w.Ctx, "old", 0, 1000, 0)
			if w.Must(err); len(held) != 100 || !slices.EqualFunc(held, log[len(log)-100:], func(a, b chat.Message) bool { return string(a.JSON) == string(b.JSON) }) {
				t.Fatalf("the store has %d entries", len(held))
			}
			for i, m := range log {
				var e chat.Entry
				w.Must(json.Unmarshal(m.JSON, &e))
				if m.ID != int64(i+1) || e.ID != m.ID {
					t.Fatalf("after %d comes %d", i, e.ID)
				}
				if e.Kind == chat.Text {
					if want := fmt.Sprint("long text ", texts); !strings.HasSuffix(*e.Body, want) {
						t.Fatalf("got %q, want %q", (*e.Body)[len(*e.Body)-20:], want)
					}
					texts++
				}
			}
			if texts != 300 {
				t.Errorf("got %d texts", texts)
			}
			if logs := w.db.Logs(); len(logs) != 1 {
				t.Errorf("the archive has the logs %v", logs)
			}
		}
	}
}

// TestImportReplacesAnother: what an interrupted import has left goes when another file is imported, or when it is discarded.
func TestImportReplacesAnother(t *testing.T) {
	w := newWorld(t, true)
	interrupt := func() {
		broken := importer.New(w.Bench.Service, w.Store, &stopping{w.db, 1, true}, chat.DefaultLimits())
		if _, err := broken.Import(w.Ctx, source(long(300)), draft(100)); !errors.Is(err, errStopped) {
			t.Fatalf("got %v", err)
		}
	}
	interrupt()
	found, err := w.Discard(w.Ctx, "old")
	if w.Must(err); !found || len(w.db.Logs()) > 0 {
		t.Errorf("got %v, and the archive has %v", found, w.db.Logs())
	}
	if found, err = w.Discard(w.Ctx, "old"); err != nil || found {
		t.Errorf("a second time: got %v, %v", found, err)
	}
	interrupt()
	_, err = w.Import(w.Ctx, source(past(10)), draft(5))
	w.Must(err)
	if log, info := w.log("ann"), w.info("ann"); int64(len(log)) != info.Last || info.Last != 20 || len(w.db.Logs()) != 1 {
		t.Errorf("got %d entries of %d, and the archive has %v", len(log), info.Last, w.db.Logs())
	}
}

// TestImportOfAChangingFile: what was checked is what is imported, or nothing is.
func TestImportOfAChangingFile(t *testing.T) {
	w := newWorld(t, true)
	opened := 0
	_, err := w.Import(w.Ctx, func() (io.ReadCloser, error) {
		opened++
		return source(past(9 + opened))()
	}, draft(5))
	if err == nil || !strings.Contains(err.Error(), "has changed") || w.info("ann").Epoch != "" {
		t.Errorf("got %v", err)
	}
}
