package chat_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/chatd/chatd/chat"
)

func TestCreateGroup(t *testing.T) {
	b := newBench(t)
	g := b.MakeGroup(chat.GroupDraft{ID: "general", Name: "General"}, "alice", "bob", "cid")
	if g.ID != "general" || g.Keep != 100 || g.BacklogMax != 10_000 || !g.History || g.Visibility != chat.Private ||
		g.Post != chat.PostMembers || g.CreatedBy != "alice" || g.Members != 3 || g.First != 1 || g.Last != 3 || g.Epoch == "" {
		t.Errorf("got %+v", g)
	}
	created, joined := b.At("bob", "general", 1), b.At("bob", "general", 3)
	if created.Notice != chat.NoticeCreated || joined.Notice != chat.NoticeJoined || joined.User != "cid" || joined.From != "alice" {
		t.Errorf("notices: got %+v and %+v", created, joined)
	}
	for _, user := range []string{"alice", "bob", "cid"} {
		list, err := b.Groups(b.Ctx, as(user), 0, "")
		b.Must(err)
		if len(list.Items) != 1 || list.Items[0].ID != "general" || string(list.Items[0].LastMessage) != "null" {
			t.Errorf("%s lists %+v", user, list.Items)
		}
	}
	for name, d := range map[string]chat.GroupDraft{
		"public is no id": {ID: "public"}, "bad id": {ID: ".x"}, "bad member": {Members: []string{"a b"}},
		"visibility": {Visibility: "open"}, "post": {Post: "all"}, "keep": {Keep: new(int64(-1))}, "backlog_max": {BacklogMax: new(int64(0))}, "name": {Name: "a\nb"},
	} {
		_, err := b.CreateGroup(b.Ctx, as("alice"), d)
		b.Refused(name, err, chat.CodeInvalid)
	}
	for name, d := range map[string]chat.GroupDraft{
		"keep": {Keep: new(int64(100_001))}, "backlog_bytes above": {BacklogBytes: new(int64(1 << 60))}, "backlog_max above": {BacklogMax: new(int64(1_000_001))},
	} {
		_, err := b.CreateGroup(b.Ctx, as("alice"), d)
		b.Refused(name, err, chat.CodeOutOfRange)
	}
	_, err := b.CreateGroup(b.Ctx, as("bob"), chat.GroupDraft{ID: "general"})
	b.Refused("the same id", err, chat.CodeExists)
}

// A creation that was cut off anywhere is repeated with its key and makes the same group.
func TestCreateGroupAgain(t *testing.T) {
	b := newBench(t)
	d := chat.GroupDraft{Key: "k-1", Name: "one"}
	first := b.MakeGroup(d, "alice", "bob")
	if again := b.MakeGroup(d, "alice", "bob"); !reflect.DeepEqual(again, first) {
		t.Errorf("the same key: got %+v, want %+v", again, first)
	}
	if other := b.MakeGroup(d, "bob", "alice"); other.ID == first.ID {
		t.Error("the key of another user makes the same group")
	}
	d.Name = "two"
	if other := b.MakeGroup(d, "alice", "bob"); other.ID == first.ID {
		t.Error("another content makes the same group")
	}
	d.Key = ""
	if a, b := b.MakeGroup(d, "alice"), b.MakeGroup(d, "alice"); a.ID == b.ID || !chat.ValidID(a.ID) {
		t.Errorf("without a key: got %q and %q", a.ID, b.ID)
	}
}

func TestOnce(t *testing.T) {
	b := newBench(t)
	runs := 0
	do := func() (chat.Answer, error) {
		runs++
		return chat.Answer{Status: 201, Body: []byte(fmt.Sprintf(`{"run":%d}`, runs))}, nil
	}
	first, replayed, err := b.Once(b.Ctx, as("alice"), "k", "content", do)
	b.Must(err)
	if replayed || first.Status != 201 {
		t.Errorf("first: got %+v, replayed %v", first, replayed)
	}
	again, replayed, err := b.Once(b.Ctx, as("alice"), "k", "content", do)
	b.Must(err)
	if !replayed || again.Status != 201 || string(again.Body) != string(first.Body) || runs != 1 {
		t.Errorf("again: got %+v, replayed %v after %d runs", again, replayed, runs)
	}
	_, _, err = b.Once(b.Ctx, as("alice"), "k", "other", do)
	b.Refused("other content", err, chat.CodeKeyReused)
	_, replayed, err = b.Once(b.Ctx, as("bob"), "k", "other", do)
	if err != nil || replayed || runs != 2 {
		t.Errorf("another user: %v, replayed %v", err, replayed)
	}
	_, _, err = b.Once(b.Ctx, as("alice"), "bad\n", "content", do)
	b.Refused("a bad key", err, chat.CodeInvalid)
	failed := fmt.Errorf("the node dies")
	_, _, err = b.Once(b.Ctx, as("alice"), "half", "content", func() (chat.Answer, error) { return chat.Answer{}, failed })
	b.Refused("half-way", err, chat.CodeInternal)
	_, replayed, err = b.Once(b.Ctx, as("alice"), "half", "content", do)
	if err != nil || replayed || runs != 3 {
		t.Errorf("what was left unfinished is not done again: %v, %v, %d runs", err, replayed, runs)
	}
}

func TestWhoMayWhat(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "private"}, "alice", "bob", "cid")
	b.MakeGroup(chat.GroupDraft{ID: "open", Visibility: chat.Public}, "alice")
	_, err := b.Group(b.Ctx, as("eve"), "private")
	b.Refused("a private group from outside", err, chat.CodeNotFound)
	_, err = b.Group(b.Ctx, as("eve"), "open")
	b.Must(err)
	_, err = b.Group(b.Ctx, operator("root"), "private")
	b.Must(err)
	for _, c := range []struct {
		by    chat.Caller
		group string
		want  chat.Code
	}{{as("eve"), "private", chat.CodeNotFound}, {as("eve"), "open", chat.CodeForbidden}, {as("eve"), "none", chat.CodeNotFound},
		{operator("root"), "private", chat.CodeForbidden}, {operator("root"), "none", chat.CodeNotFound}} {
		what := c.by.User + " in " + c.group
		_, _, err := b.Pull(b.Ctx, c.by, c.group, chat.PullQuery{})
		b.Refused("pull: "+what, err, c.want)
		_, err = b.Send(b.Ctx, c.by, c.group, chat.Content{Body: new("x")}, "")
		b.Refused("send: "+what, err, c.want)
		_, err = b.Send(b.Ctx, c.by, c.group, chat.Content{Kind: chat.Delete, Target: 1}, "")
		b.Refused("delete: "+what, err, c.want)
		_, err = b.Ack(b.Ctx, c.by, c.group, chat.At(1))
		b.Refused("ack: "+what, err, c.want)
		_, err = b.Read(b.Ctx, c.by, c.group, chat.At(1))
		b.Refused("read: "+what, err, c.want)
		_, err = b.Unread(b.Ctx, c.by, c.group, 1)
		b.Refused("unread: "+what, err, c.want)
		_, _, err = b.Receipts(b.Ctx, c.by, c.group, chat.ReceiptsQuery{ID: 1})
		b.Refused("receipts: "+what, err, c.want)
		if !c.by.Admin {
			_, err = b.UpdateGroup(b.Ctx, c.by, c.group, chat.GroupChange{Name: new("x")})
			b.Refused("update: "+what, err, c.want)
			b.Refused("delete the group: "+what, b.DeleteGroup(b.Ctx, c.by, c.group), c.want)
			b.Refused("remove: "+what, b.RemoveMember(b.Ctx, c.by, c.group, "bob"), c.want)
			_, _, err = b.PutMember(b.Ctx, c.by, c.group, "zoe", "")
			b.Refused("put: "+what, err, c.want)
		}
	}
	_, err = b.UpdateGroup(b.Ctx, as("bob"), "private", chat.GroupChange{Name: new("x")})
	b.Refused("a member changes the name", err, chat.CodeForbidden)
	b.Refused("a member deletes the group", b.DeleteGroup(b.Ctx, as("bob"), "private"), chat.CodeForbidden)
	b.Refused("a member removes a member", b.RemoveMember(b.Ctx, as("bob"), "private", "cid"), chat.CodeForbidden)
}

func TestPutMember(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob", "cid")
	put := func(by, user string, role chat.Role, created bool, want chat.Code) {
		t.Helper()
		m, got, err := b.PutMember(b.Ctx, as(by), "g", user, role)
		b.Refused(fmt.Sprintf("%s puts %s as %q", by, user, role), err, want)
		if err == nil && (got != created || role != "" && m.Role != role || m.User != user) {
			t.Errorf("%s puts %s as %q: got %+v, created %v", by, user, role, m, got)
		}
	}
	put("alice", "dee", "", true, "")
	put("alice", "dee", "", false, "")
	put("alice", "bob", chat.Admin, false, "")
	put("bob", "eve", chat.Admin, true, "")
	put("bob", "cid", chat.Owner, false, chat.CodeForbidden)
	put("bob", "fay", chat.Owner, true, chat.CodeForbidden)
	put("bob", "alice", chat.Ordinary, false, chat.CodeForbidden)
	put("cid", "cid", chat.Admin, false, chat.CodeForbidden)
	put("cid", "cid", chat.Ordinary, false, "")
	put("alice", "alice", chat.Admin, false, chat.CodeConflict)
	put("alice", "alice", "king", false, chat.CodeInvalid)
	put("zoe", "zoe", "", false, chat.CodeNotFound)
	put("alice", "cid", chat.Owner, false, "")
	list, err := b.Members(b.Ctx, as("dee"), "g", 0, "")
	b.Must(err)
	roles := map[string]chat.Role{}
	for _, m := range list.Items {
		roles[m.User] = m.Role
	}
	want := map[string]chat.Role{"alice": chat.Admin, "bob": chat.Admin, "cid": chat.Owner, "dee": chat.Ordinary, "eve": chat.Admin}
	for u, r := range want {
		if roles[u] != r {
			t.Errorf("%s: got role %q, want %q", u, roles[u], r)
		}
	}
	if len(roles) != len(want) {
		t.Errorf("members: got %v", roles)
	}
	// A newcomer takes over at once.
	put("cid", "gus", chat.Owner, true, "")
	// Nobody but an operator removes the owner.
	b.Refused("an admin removes the owner", b.RemoveMember(b.Ctx, as("alice"), "g", "gus"), chat.CodeForbidden)
	b.Must(b.RemoveMember(b.Ctx, operator("root"), "g", "gus"))
	last := b.PullFrom("alice", "g", "0", 100)
	heir := entry(t, last.Messages[len(last.Messages)-1].JSON)
	if heir.Notice != chat.NoticeRole || heir.Role != chat.Owner || heir.User != "alice" || heir.From != "root" {
		t.Errorf("the succession is told as %+v", heir)
	}
}

func TestPublicGroups(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"cherry", "apple", "banana", "apple"} {
		b.MakeGroup(chat.GroupDraft{Name: name, Visibility: chat.Public}, "alice")
	}
	hidden := b.MakeGroup(chat.GroupDraft{Name: "apple pie", Visibility: chat.Public}, "alice")
	_, err := b.UpdateGroup(b.Ctx, as("alice"), hidden.ID, chat.GroupChange{Visibility: new(chat.Private)})
	b.Must(err)
	var names []string
	cursor := ""
	for {
		page, err := b.PublicGroups(b.Ctx, as("bob"), 3, cursor)
		b.Must(err)
		for _, g := range page.Items {
			names = append(names, g.Name)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if want := []string{"apple", "apple", "banana", "cherry"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	_, err = b.PublicGroups(b.Ctx, as("bob"), 3, "?!")
	b.Refused("a bad cursor", err, chat.CodeInvalid)
}

func TestGroupsByActivity(t *testing.T) {
	b := newBench(t)
	for _, id := range []string{"a", "b.x", "c", "d"} {
		b.MakeGroup(chat.GroupDraft{ID: id}, "alice", "bob")
	}
	b.Say("bob", "b.x", "hello")
	b.Say("bob", "a", "@alice")
	b.Must(b.Store.AddUserGroups(b.Ctx, []string{"alice"}, chat.UserGroup{Group: "left"})) // the index lags
	var ids []string
	cursor := ""
	for {
		page, err := b.Groups(b.Ctx, as("alice"), 2, cursor)
		b.Must(err)
		if page.Total != 4 {
			t.Errorf("%d groups in all, want 4", page.Total)
		}
		for _, g := range page.Items {
			ids = append(ids, g.ID)
			if has := string(g.LastMessage) != "null"; has != (g.Unread == 1) {
				t.Errorf("%s: unread %d, last message %s", g.ID, g.Unread, g.LastMessage)
			}
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if want := "a b.x d c"; strings.Join(ids, " ") != want {
		t.Errorf("got %q, want %q", ids, want)
	}
	_, err := b.Groups(b.Ctx, as("alice"), 2, "nonsense")
	b.Refused("a bad cursor", err, chat.CodeInvalid)
	_, err = b.Groups(b.Ctx, as("alice"), -1, "")
	b.Refused("a negative limit", err, chat.CodeInvalid)
}

func TestUpdateGroup(t *testing.T) {
	b := newBench(t)
	b.MakeGroup(chat.GroupDraft{ID: "g", Name: "old"}, "alice", "bob")
	g, err := b.UpdateGroup(b.Ctx, as("alice"), "g", chat.GroupChange{Name: new("new"), Keep: new(int64(5)), History: new(true)})
	b.Must(err)
	if g.Name != "new" || g.Keep != 5 || g.Last != 4 {
		t.Errorf("got %+v", g)
	}
	if n := b.At("bob", "g", 3); n.Notice != chat.NoticeRenamed || n.Name == nil || *n.Name != "new" {
		t.Errorf("got %+v", n)
	}
	same, err := b.UpdateGroup(b.Ctx, as("alice"), "g", chat.GroupChange{Name: new("new"), Keep: new(int64(5))})
	b.Must(err)
	if same.Last != g.Last {
		t.Errorf("no change left a notice: last is %d", same.Last)
	}
	_, err = b.UpdateGroup(b.Ctx, operator("root"), "g", chat.GroupChange{Post: new(chat.PostAdmins)})
	b.Must(err)
	_, err = b.Send(b.Ctx, as("bob"), "g", chat.Content{Body: new("x")}, "")
	b.Refused("a member where admins post", err, chat.CodeForbidden)
	b.Must(b.DeleteGroup(b.Ctx, operator("root"), "g"))
	_, err = b.Group(b.Ctx, as("alice"), "g")
	b.Refused("a deleted group", err, chat.CodeNotFound)
}
