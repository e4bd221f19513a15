package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// Ids as other identity systems give them. Joined to keys without care, some would meet: the messages of `x` in `a` and the
// group `a:by:x`, say.
var (
	foreignUsers  = []string{"auth0|5f7c", "f:1b2c:jdoe", "system:serviceaccount:ns:x", "x", "by:x", strings.Repeat("u:|", 42) + "42"}
	foreignGroups = []string{"a", "a:by", "a:by:x", "a:inbox:by", strings.Repeat("g:|", 42) + "42"}
)

// foreign is people with such ids, who use every feature.
type foreign struct {
	*testing.T
	ctx  context.Context
	node *harness.Node
	as   map[string]*client.Client
	root *client.Client
}

// TestIDsOfOtherSystems has people with such ids use every feature, on one kind of store and then on the other, with another
// number of partitions. What belongs to one id never shows under another.
func TestIDsOfOtherSystems(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"embedded", "redis"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			files := "dir:" + t.TempDir()
			config := func(redis bool) harness.Config {
				c := harness.Config{Env: notifying("20ms")}
				c.Env["CHATD_FILES"], c.Env["CHATD_ARCHIVE"] = files, "sqlite:"+filepath.Join(t.TempDir(), "archive.db")
				if redis {
					c.Redis = redistest.Start(t).URL()
				}
				return c
			}
			first, second := harness.StartNode(t, config(kind == "redis")), harness.NewNode(t, config(kind != "redis"))
			f := &foreign{T: t, ctx: bounded(t, 3*time.Minute)}
			f.at(first)
			events := f.published()
			f.write()
			f.live()
			f.later()
			f.attach()
			f.lists()
			f.compareEvents(events)
			want := answers(f.ctx, t, first, foreignUsers, foreignGroups...)
			carry(f.ctx, t, first, second, "-partitions", "7")
			compareAnswers(t, "after the import", answers(f.ctx, t, second, foreignUsers, foreignGroups...), want)
			f.at(second)
			f.remove()
			second.Terminate()
			if out, err := runCommand(f.ctx, second, "doctor"); err != nil {
				t.Errorf("doctor: got %v, %s", err, out)
			}
		})
	}
}

func (f *foreign) at(node *harness.Node) {
	f.node, f.as = node, map[string]*client.Client{}
	for _, user := range foreignUsers {
		f.as[user] = node.Client(user, patient())
	}
	f.root = must(client.New(node.URL(), client.StaticToken(harness.Token("root", "admin", time.Hour))))(f)
}

// said is what a user writes in a group: the word is in no other message.
func said(group, user string) string {
	return fmt.Sprintf("word%dx%d", slices.Index(foreignGroups, group), slices.Index(foreignUsers, user))
}

// write has everyone write in every group, and the owner react to, edit and delete some of it.
func (f *foreign) write() {
	owner := foreignUsers[0]
	for _, group := range foreignGroups {
		keep := int64(3)
		must(f.as[owner].CreateGroup(f.ctx, client.GroupDraft{ID: group, Name: strings.Repeat("ü", 100), Members: foreignUsers[1:], Keep: &keep, Visibility: "public"}))(f)
		ids := map[string]int64{}
		for i, user := range foreignUsers {
			draft := client.Draft{Body: said(group, user), ClientID: "same", Mentions: foreignUsers[(i+1)%len(foreignUsers):][:1]}
			ids[user] = must(f.as[user].Send(f.ctx, group, draft))(f).ID
			if again := must(f.as[user].Send(f.ctx, group, draft))(f); !again.Duplicate || again.ID != ids[user] {
				f.Errorf("%s in %s: the key is not known: got %+v", user, group, again)
			}
		}
		for _, user := range foreignUsers {
			must(f.as[user].Send(f.ctx, group, client.Draft{Kind: client.KindReaction, Target: ids["x"], Emoji: "👍"}))(f)
		}
		must(f.as["by:x"].Send(f.ctx, group, client.Draft{Kind: client.KindEdit, Target: ids["by:x"], Body: said(group, "by:x") + " edited"}))(f)
		must(f.as["x"].Send(f.ctx, group, client.Draft{Body: "gone"}))(f)
		gone := must(f.as["x"].Group(f.ctx, group))(f).Last
		must(f.as["x"].Send(f.ctx, group, client.Draft{Kind: client.KindDelete, Target: gone}))(f)
		page := must(f.as["x"].Messages(f.ctx, group, client.Range{Before: ids["x"] + 1, Limit: 1}))(f)
		if got := page.Messages[0].Reactions["👍"]; got.Count != int64(len(foreignUsers)) || !got.Mine {
			f.Errorf("%s: got the reactions %+v", group, got)
		}
		if err := f.as["x"].DeleteGroup(f.ctx, group); client.CodeOf(err) != client.CodeForbidden {
			f.Errorf("x deletes %s: got %v", group, err)
		}
	}
	for _, user := range foreignUsers {
		must(f.as[user].SendDirect(f.ctx, "by:x", client.Direct{Body: "direct of " + user, ClientID: "same"}))(f)
	}
}

// live compares what everyone gets by a sync, over a websocket and in the inbox.
func (f *foreign) live() {
	for _, user := range foreignUsers {
		stream := must(f.as[user].Stream(f.ctx, client.StreamOptions{}))(f)
		answer := must(f.as[user].Sync(f.ctx, client.SyncRequest{After: map[string]client.Position{"a:by": client.At(0)}}))(f)
		got := map[string]string{}
		for _, batch := range answer.Groups {
			for _, m := range batch.Messages {
				got[batch.Group] += m.Body + " "
				if m.Group != batch.Group || m.Kind == client.KindText && m.DeletedAt == nil && !strings.HasPrefix(m.Body, said(batch.Group, m.From)) {
					f.Errorf("%s got in %s: %+v", user, batch.Group, m)
				}
			}
		}
		if len(got) != len(foreignGroups) || len(answer.Errors) > 0 || !strings.Contains(got["a:by"], said("a:by", foreignUsers[0])) {
			f.Errorf("%s: the sync has %v, %v", user, got, answer.Errors)
		}
		until(f.ctx, f, stream.Next, func(m client.Messages) bool { return m.Group == "a:by:x" })
		if _, err := stream.Read(f.ctx, "a:by:x", must(f.as[user].Group(f.ctx, "a:by:x"))(f).Last); err != nil {
			f.Error(err)
		}
		stream.Close()
		if unread := must(f.as[user].Unread(f.ctx))(f); unread.Groups["a:by:x"] != 0 || unread.Groups["a:by"] == 0 {
			f.Errorf("%s: got %+v unread", user, unread)
		}
	}
	harness.Eventually(f, 20*time.Second, "the inboxes have everything", func() error {
		for i, user := range foreignUsers {
			kinds := map[string]int{}
			for _, item := range must(f.as[user].Inbox(f.ctx, new(int64), 1000))(f).Items {
				kinds[item.Kind]++
				mentioner := foreignUsers[(i+len(foreignUsers)-1)%len(foreignUsers)]
				if item.Kind == client.ItemMention && item.From != mentioner || item.Kind == client.ItemDirect && item.Body != "direct of "+item.From {
					f.Errorf("%s got %+v", user, item)
				}
			}
			if user == "by:x" && kinds[client.ItemDirect] != len(foreignUsers) || kinds[client.ItemMention] != len(foreignGroups) || i > 0 && kinds[client.ItemAdded] != len(foreignGroups) {
				return fmt.Errorf("%s has %v", user, kinds)
			}
		}
		return nil
	})
}

// later has what is sent by tasks reach whom it is for.
func (f *foreign) later() {
	soon := time.Now().Add(50 * time.Millisecond)
	must(f.as["x"].SendLater(f.ctx, "a:by", client.Text("later"), soon))(f)
	must(f.as["x"].SendDirectLater(f.ctx, foreignUsers[2], client.Direct{Body: "direct later"}, soon))(f)
	to := client.AnnouncementTarget{Groups: []string{"a:by:x", foreignGroups[4]}, Users: []string{foreignUsers[1], foreignUsers[5]}}
	announced := must(f.root.Announce(f.ctx, client.AnnouncementDraft{To: to, Body: "announced", Priority: "high"}))(f)
	where := func(body string) (groups []string) {
		for _, group := range foreignGroups {
			page := must(f.as["x"].Messages(f.ctx, group, client.Range{After: client.At(0), Limit: 1000}))(f)
			if slices.ContainsFunc(page.Messages, func(m client.Message) bool { return m.Body == body }) {
				groups = append(groups, group)
			}
		}
		return groups
	}
	has := func(user, body string) bool {
		items := must(f.as[user].Inbox(f.ctx, new(int64), 1000))(f).Items
		return slices.ContainsFunc(items, func(i client.Item) bool { return i.Body == body })
	}
	harness.Eventually(f, 20*time.Second, "schedules and announcements", func() error {
		a := must(f.root.Announcement(f.ctx, announced.ID))(f)
		if a.State != "done" || a.Delivered != 4 {
			return fmt.Errorf("the announcement is %+v", a)
		}
		if later, news := where("later"), where("announced"); !slices.Equal(later, []string{"a:by"}) || !slices.Equal(news, to.Groups) {
			return fmt.Errorf("the groups %q have one, and %q the other", later, news)
		}
		if !has(foreignUsers[1], "announced") || !has(foreignUsers[5], "announced") || has("x", "announced") || !has(foreignUsers[2], "direct later") {
			return fmt.Errorf("the inboxes lack something")
		}
		return nil
	})
}

// attach sends a file, and finds what was archived.
func (f *foreign) attach() {
	content := []byte("of a:by:x")
	id := must(f.as["by:x"].UploadFile(f.ctx, "a:by:x", client.FileDraft{Name: "f.txt", Size: int64(len(content))}, bytes.NewReader(content)))(f)
	sent := must(f.as["by:x"].Send(f.ctx, "a:by:x", client.Draft{Body: "with a file", Files: []string{id}}))(f)
	file := must(f.as[foreignUsers[0]].OpenFile(f.ctx, "a:by:x", sent.Message.Files[0]))(f)
	if got := must(io.ReadAll(file))(f); !bytes.Equal(got, content) {
		f.Errorf("got %q", got)
	}
	_ = file.Close()
	if _, err := f.as["by:x"].OpenFile(f.ctx, "a:by", sent.Message.Files[0]); client.CodeOf(err) != client.CodeNotFound {
		f.Errorf("the file in another group: got %v", err)
	}
	for _, group := range foreignGroups {
		for _, user := range foreignUsers {
			last := must(f.as[user].Group(f.ctx, group))(f).Last
			must(f.as[user].Read(f.ctx, group, last))(f)
		}
	}
	harness.Eventually(f, 20*time.Second, "searches find everything", func() error {
		for _, group := range foreignGroups {
			for _, user := range foreignUsers {
				for _, q := range []client.SearchQuery{{Text: said(group, user)}, {Text: "word*", Group: group, From: user}} {
					found, err := f.as[foreignUsers[5]].Search(f.ctx, q)
					if err != nil {
						return err
					}
					if len(found.Hits) != 1 || found.Hits[0].Message.Group != group || found.Hits[0].Message.From != user {
						return fmt.Errorf("%+v: got %+v", q, found.Hits)
					}
				}
			}
		}
		return nil
	})
}

// lists pages through every list, an entry at a time, and reads the exports.
func (f *foreign) lists() {
	pages := func(what string, want []string, next func(client.Page) (string, string, error)) {
		f.Helper()
		var got []string
		for page := (client.Page{Limit: 1}); ; {
			one, cursor, err := next(page)
			if err != nil {
				f.Fatalf("%s: %v", what, err)
			}
			if one != "" {
				got = append(got, one)
			}
			if page.Cursor = cursor; cursor == "" {
				break
			}
		}
		slices.Sort(got)
		if want = slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
			f.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	pages("groups", foreignGroups, func(p client.Page) (string, string, error) {
		list, err := f.as["x"].Groups(f.ctx, p)
		return list.Groups[0].ID, list.Next, err
	})
	pages("public groups", foreignGroups, func(p client.Page) (string, string, error) {
		list, next, err := f.as["x"].PublicGroups(f.ctx, p)
		return list[0].ID, next, err
	})
	for _, group := range foreignGroups {
		pages("members", foreignUsers, func(p client.Page) (string, string, error) {
			list, next, err := f.as["x"].Members(f.ctx, group, p)
			return list[0].User, next, err
		})
		lines := 0
		_, err := f.as[foreignUsers[0]].ExportGroup(f.ctx, group, "", func(line []byte) error {
			if lines++; !bytes.Contains(line, must(json.Marshal(group))(f)) {
				f.Errorf("the export of %s has %s", group, line)
			}
			return nil
		})
		if last := must(f.as["x"].Group(f.ctx, group))(f).Last; err != nil || int64(lines) != last {
			f.Errorf("the export of %s: got %d lines of %d and %v", group, lines, last, err)
		}
	}
	var mine []byte
	if err := f.as["by:x"].ExportMe(f.ctx, func(line []byte) error { mine = append(mine, line...); return nil }); err != nil {
		f.Fatal(err)
	}
	for _, group := range foreignGroups {
		if !bytes.Contains(mine, []byte(said(group, "by:x"))) || bytes.Contains(mine, []byte(said(group, "x"))) {
			f.Errorf("the export of by:x has the wrong messages of %s", group)
		}
	}
}

// published registers a webhook and a device, and returns what both get.
func (f *foreign) published() func() []string {
	var mu sync.Mutex
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var event struct {
			Data struct{ Group, From, User, Body string }
		}
		if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
			f.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		got = append(got, strings.Join([]string{r.URL.Path, event.Data.Group, event.Data.From, event.Data.User, event.Data.Body}, " "))
	}))
	f.Cleanup(s.Close)
	must(f.root.CreateWebhook(f.ctx, client.WebhookDraft{URL: s.URL + "/hook", Events: []string{client.EventMessageCreated}}))(f)
	user := foreignUsers[1]
	must(f.as[user].PutDevice(f.ctx, "phone", client.DeviceDraft{Kind: client.DeviceWebhook, URL: s.URL + "/device"}))(f)
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(got)
	}
}

func (f *foreign) compareEvents(events func() []string) {
	harness.Eventually(f, 20*time.Second, "everything arrives", func() error {
		got := events()
		for _, group := range foreignGroups {
			for _, user := range foreignUsers {
				if want := fmt.Sprintf("/hook %s %s  %s", group, user, said(group, user)); !slices.Contains(got, want) {
					return fmt.Errorf("no event %q", want)
				}
			}
			if !slices.ContainsFunc(got, func(s string) bool {
				return strings.HasPrefix(s, "/device "+group+" ") && strings.Contains(s, " "+foreignUsers[1]+" ")
			}) {
				return fmt.Errorf("no notification of %q", group)
			}
		}
		return nil
	})
}

// remove deletes a group, has a member leave another, and erases a person. Those whose ids begin alike keep what they have.
func (f *foreign) remove() {
	owner := f.as[foreignUsers[0]]
	try(f.T, owner.DeleteGroup(f.ctx, "a:by"))
	try(f.T, f.as["x"].RemoveMember(f.ctx, "a", "x"))
	erasing := must(f.root.EraseUser(f.ctx, "by:x"))(f)
	harness.Eventually(f, 30*time.Second, "the erasure ends", func() error {
		e, err := f.root.Erasure(f.ctx, erasing.ID)
		if err == nil && e.State != "done" {
			err = fmt.Errorf("it is %+v", e)
		}
		return err
	})
	for _, group := range []string{"a", "a:by:x", "a:inbox:by", foreignGroups[4]} {
		var log []byte
		must(owner.ExportGroup(f.ctx, group, "", func(line []byte) error { log = append(log, line...); return nil }))(f)
		for _, user := range foreignUsers {
			if is := bytes.Contains(log, []byte(said(group, user))); is != (user != "by:x") {
				f.Errorf("%s: what %s said is there: %v", group, user, is)
			}
		}
	}
	if _, err := owner.Group(f.ctx, "a:by"); client.CodeOf(err) != client.CodeNotFound {
		f.Errorf("the deleted group: got %v", err)
	}
	members, _, err := owner.Members(f.ctx, "a", client.Page{})
	if err != nil || len(members) != len(foreignUsers)-2 {
		f.Errorf("got the members %+v and %v", members, err)
	}
}
