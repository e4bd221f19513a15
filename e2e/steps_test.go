package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// TestFirstSteps is what someone does in the first quarter of an hour: a group, a message, an answer, and everything
// that a message can go through.
func TestFirstSteps(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, node *harness.Node) {
		ctx := bounded(t, time.Minute)
		alice, bob := node.Client("alice"), node.Client("bob")
		group := must(alice.CreateGroup(ctx, client.GroupDraft{ID: "general", Name: "General", Members: []string{"bob"}}))(t)
		if group.ID != "general" || group.Last != 2 || group.Members != 2 || group.Epoch == "" || group.Keep != 100 {
			t.Errorf("got %+v, want general with two notices and two members", group)
		}
		if _, err := alice.CreateGroup(ctx, client.GroupDraft{ID: "general"}); client.CodeOf(err) != client.CodeExists {
			t.Errorf("a second group of that id: got %v, want exists", err)
		}
		sent := must(alice.Send(ctx, "general", client.Draft{Body: "hi @bob", Mentions: []string{"bob"}, ClientID: "c-1"}))(t)
		if sent.ID != 3 || sent.From != "alice" || sent.Kind != client.KindText || sent.Body != "hi @bob" || sent.SentAt.IsZero() || sent.Duplicate {
			t.Errorf("got %+v, want message 3 of alice", sent)
		}
		again := must(alice.Send(ctx, "general", client.Draft{Body: "hi @bob", Mentions: []string{"bob"}, ClientID: "c-1"}))(t)
		if again.ID != 3 || !again.Duplicate || !again.SentAt.Equal(sent.SentAt) {
			t.Errorf("the same key again: got %+v, want the first answer as a duplicate", again)
		}
		if _, err := alice.Send(ctx, "general", client.Draft{Body: "other", ClientID: "c-1"}); client.CodeOf(err) != client.CodeKeyReused {
			t.Errorf("the same key for something else: got %v, want key_reused", err)
		}

		unread := must(bob.Unread(ctx))(t)
		if unread.Total != 1 || unread.Mentions != 1 || unread.Groups["general"] != 1 {
			t.Errorf("got %+v, want one unread that mentions bob", unread)
		}
		page := must(bob.Messages(ctx, "general", client.Range{}))(t)
		if page.From != 1 || page.To != 3 || !page.Complete || page.HasMore || page.Epoch != group.Epoch || page.Cursor == "" {
			t.Errorf("got %+v, want messages 1 to 3", page)
		}
		kinds := make([]string, 0, 3)
		for _, m := range page.Messages {
			kinds = append(kinds, m.Kind+m.Notice)
		}
		if want := []string{"noticecreated", "noticejoined", "text"}; !slices.Equal(kinds, want) {
			t.Errorf("got %v, want %v", kinds, want)
		}
		if got := must(bob.Read(ctx, "general", 3))(t); got != (client.Progress{Seen: 3, Read: 3}) {
			t.Errorf("got %+v, want all seen and read", got)
		}
		receipts := must(alice.Receipts(ctx, "general", 3, client.Page{}))(t)
		if receipts.Members != 1 || receipts.Read != 1 || len(receipts.SeenBy) != 1 || receipts.SeenBy[0].User != "bob" {
			t.Errorf("got %+v, want that bob has read it", receipts)
		}
		revise(t, node)
		notices(t, node)
	})
}

// notices changes the group and reads as the client what the notices say of it.
func notices(t *testing.T, node *harness.Node) {
	ctx := bounded(t, time.Minute)
	alice := node.Client("alice")
	name, keep := "", int64(7)
	last := must(alice.UpdateGroup(ctx, "general", client.GroupChange{Name: &name, Keep: &keep}))(t).Last
	must(alice.PutMember(ctx, "general", "carl", ""))(t)
	must(alice.PutMember(ctx, "general", "carl", "admin"))(t)
	got := must(alice.Messages(ctx, "general", client.Range{After: client.At(last - 2)}))(t).Messages
	if len(got) != 4 || got[0].Name == nil || *got[0].Name != "" || got[1].Settings == nil || *got[1].Settings.Keep != keep || got[3].Role != "admin" {
		t.Errorf("got %+v, want a renaming, a change of keep, a joining and a new role", got)
	}
	if list := must(alice.Groups(ctx, client.Page{}))(t); list.Total != 1 || len(list.Groups) != 1 {
		t.Errorf("got %+v, want one group", list)
	}
}

// revise edits, reacts and deletes: each takes an id, and the original follows.
func revise(t *testing.T, node *harness.Node) {
	ctx := bounded(t, time.Minute)
	alice, bob := node.Client("alice"), node.Client("bob")
	if got := must(bob.Send(ctx, "general", client.Draft{Kind: client.KindReaction, Target: 3, Emoji: "👍"}))(t); got.ID != 4 {
		t.Errorf("reaction: got id %d, want 4", got.ID)
	}
	if got := must(alice.Send(ctx, "general", client.Draft{Kind: client.KindEdit, Target: 3, Body: "hi Bob"}))(t); got.ID != 5 {
		t.Errorf("edit: got id %d, want 5", got.ID)
	}
	if _, err := bob.Send(ctx, "general", client.Draft{Kind: client.KindEdit, Target: 3, Body: "x"}); client.CodeOf(err) != client.CodeForbidden {
		t.Errorf("edit by another: got %v, want forbidden", err)
	}
	page := must(bob.Messages(ctx, "general", client.Range{Before: 4, Limit: 1}))(t)
	if len(page.Messages) != 1 || page.Messages[0].Body != "hi Bob" || page.Messages[0].EditedAt == nil {
		t.Fatalf("got %+v, want the edited message", page)
	}
	if got := page.Messages[0].Reactions["👍"]; got != (client.Reaction{Count: 1, Mine: true}) {
		t.Errorf("got %+v, want one reaction of bob's own", got)
	}
	if got := must(alice.Send(ctx, "general", client.Draft{Kind: client.KindDelete, Target: 3}))(t); got.ID != 6 {
		t.Errorf("delete: got id %d, want 6", got.ID)
	}
	page = must(bob.Messages(ctx, "general", client.Range{After: client.At(2)}))(t)
	if m := page.Messages[0]; m.ID != 3 || m.Body != "" || m.DeletedAt == nil {
		t.Errorf("got %+v, want it without content", m)
	}
	if strings.Contains(string(must(json.Marshal(page))(t)), "Bob") {
		t.Errorf("got %+v: the content is still there", page)
	}
	if err := bob.RemoveMember(ctx, "general", "bob"); err != nil {
		t.Errorf("leave: %v", err)
	}
	_, gone := bob.Messages(ctx, "general", client.Range{})
	_, never := bob.Messages(ctx, "no-such-group", client.Range{})
	if !reflect.DeepEqual(withoutDetail(gone), withoutDetail(never)) || client.CodeOf(gone) != client.CodeNotFound {
		t.Errorf("got %v and %v, want the same not_found", gone, never)
	}
}

func withoutDetail(err error) any {
	var e *client.Error
	if !errors.As(err, &e) {
		return err
	}
	return [2]any{e.Status, e.Code}
}

// TestInboxAndDirect sends to one person.
func TestInboxAndDirect(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, node *harness.Node) {
		ctx := bounded(t, time.Minute)
		alice, bob := node.Client("alice"), node.Client("bob")
		for i, body := range []string{"one", "two"} {
			sent := must(alice.SendDirect(ctx, "bob", client.Direct{Body: body, ClientID: body}))(t)
			if sent.To != "bob" || sent.Seq != int64(i)+1 {
				t.Errorf("got %+v, want item %d of bob", sent, i+1)
			}
		}
		if again := must(alice.SendDirect(ctx, "bob", client.Direct{Body: "two", ClientID: "two"}))(t); again.Seq != 2 || !again.Duplicate {
			t.Errorf("got %+v, want the duplicate of 2", again)
		}
		inbox := must(bob.Inbox(ctx, nil, 0))(t)
		if len(inbox.Items) != 2 || inbox.From != 1 || inbox.To != 2 || inbox.Last != 2 || !inbox.Complete || inbox.Items[1].Body != "two" {
			t.Errorf("got %+v, want two items", inbox)
		}
		poll := bob.Poll(client.PollOptions{Wait: -1})
		if got := until(ctx, t, poll.Next, func(client.Items) bool { return true }); len(got.Items) != 2 || got.Items[0].Kind != client.ItemDirect {
			t.Errorf("poll: got %+v, want both", got)
		}
		if err := bob.InboxAck(ctx, 1); err != nil {
			t.Fatal(err)
		}
		if inbox = must(bob.Inbox(ctx, nil, 0))(t); len(inbox.Items) != 1 || inbox.Items[0].Seq != 2 {
			t.Errorf("after an ack: got %+v, want the second alone", inbox)
		}
		if err := poll.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		if inbox = must(bob.Inbox(ctx, nil, 0))(t); len(inbox.Items) != 0 || inbox.Last != 2 {
			t.Errorf("after the poll's ack: got %+v, want none", inbox)
		}
	})
}

// TestStreamReportsEverything lets bob watch over the websocket what alice does, and act over it.
func TestStreamReportsEverything(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, node *harness.Node) {
		ctx := bounded(t, time.Minute)
		alice, bob := node.Client("alice"), node.Client("bob")
		stream := must(bob.Stream(ctx, client.StreamOptions{}))(t)
		defer stream.Close()
		until(ctx, t, stream.Next, func(e client.Connected) bool { return e.User == "bob" && len(e.Groups) == 0 })
		must(alice.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"bob"}}))(t)
		until(ctx, t, stream.Next, func(e client.Joined) bool { return e.Group == "g" })
		must(alice.Send(ctx, "g", client.Text("hello")))(t)
		until(ctx, t, stream.Next, func(e client.Messages) bool { return e.To == 3 && e.Messages[len(e.Messages)-1].Body == "hello" })

		sent := must(stream.Send(ctx, "g", client.Draft{Body: "hello yourself", ClientID: "k"}))(t)
		if sent.ID != 4 || sent.Duplicate {
			t.Errorf("got %+v, want message 4", sent)
		}
		if again := must(stream.Send(ctx, "g", client.Draft{Body: "hello yourself", ClientID: "k"}))(t); again.ID != 4 || !again.Duplicate {
			t.Errorf("got %+v, want the duplicate of 4", again)
		}
		if _, err := stream.Send(ctx, "elsewhere", client.Text("x")); client.CodeOf(err) != client.CodeNotFound {
			t.Errorf("got %v, want not_found", err)
		}
		if _, err := stream.Read(ctx, "g", 4); err != nil {
			t.Error(err)
		}
		if err := stream.Ack(ctx, "g", 99); client.CodeOf(err) != client.CodeOutOfRange {
			t.Errorf("got %v, want out_of_range", err)
		}
		watcher := must(alice.Stream(ctx, client.StreamOptions{}))(t)
		defer watcher.Close()
		until(ctx, t, watcher.Next, func(client.Connected) bool { return true })
		until(ctx, t, watcher.Next, func(e client.Messages) bool { return e.To >= 4 })
		if err := stream.Typing("g"); err != nil {
			t.Error(err)
		}
		until(ctx, t, watcher.Next, func(e client.Typing) bool { return e.User == "bob" && e.Group == "g" })
		must(alice.SendDirect(ctx, "bob", client.Direct{Body: "psst"}))(t)
		items := until(ctx, t, stream.Next, func(e client.Items) bool {
			return slices.ContainsFunc(e.Items, func(i client.Item) bool { return i.Body == "psst" })
		})
		if err := stream.InboxAckAt(ctx, items.Cursor); err != nil {
			t.Error(err)
		}
		if err := alice.RemoveMember(ctx, "g", "bob"); err != nil {
			t.Fatal(err)
		}
		until(ctx, t, stream.Next, func(e client.Left) bool { return e.Group == "g" })
		if got := stream.Stats(); got.Repeats != 0 || got.Holes != 0 || got.Gaps != 0 || got.Sessions != 1 {
			t.Errorf("got %+v, want no repeat, hole or gap in one session", got)
		}
	})
}

// TestPlainHTTP makes requests as curl does, so that the wire is what the contract says and not only what the client
// and the server agree on.
func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	node := harness.StartNode(t, harness.Config{})
	ctx := bounded(t, time.Minute)
	do := func(method, path, token, body string) (int, http.Header, map[string]any) {
		t.Helper()
		req := must(http.NewRequestWithContext(ctx, method, node.URL()+path, strings.NewReader(body)))(t)
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		if body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		answer := must(http.DefaultClient.Do(req))(t)
		defer answer.Body.Close()
		data := must(io.ReadAll(answer.Body))(t)
		var fields map[string]any
		if len(bytes.TrimSpace(data)) > 0 && strings.Contains(answer.Header.Get("Content-Type"), "json") {
			if err := json.Unmarshal(data, &fields); err != nil {
				t.Fatalf("%s %s: %v: %s", method, path, err, data)
			}
		}
		return answer.StatusCode, answer.Header, fields
	}
	token := harness.Token("alice", "", time.Hour)
	tests := []struct {
		method, path, token, body string
		status                    int
		code                      string
	}{
		{"POST", "/v1/groups", token, `{"id":"g","keep":5}`, 201, ""},
		{"POST", "/v1/groups/g/messages", token, `{"body":"hi","client_id":"c-1"}`, 201, ""},
		{"POST", "/v1/groups/g/messages", token, `{"body":"hi","client_id":"c-1"}`, 200, ""},
		{"POST", "/v1/groups/g/messages", token, `{"body":"hi","clientid":"c-1"}`, 400, "invalid_request"},
		{"POST", "/v1/groups/g/messages", token, `{"body":7}`, 400, "invalid_request"},
		{"POST", "/v1/groups/g/messages", token, `{"body":"hi"} x`, 400, "invalid_request"},
		{"POST", "/v1/groups/g/messages", token, `{"body":"` + strings.Repeat("x", 16<<10+1) + `"}`, 413, "too_large"},
		{"POST", "/v1/groups/g/messages", token, `{"body":"` + strings.Repeat("x", 1<<20+1) + `"}`, 413, "too_large"},
		{"POST", "/v1/groups/g/ack", token, `{"id":99}`, 400, "out_of_range"},
		{"POST", "/v1/groups/g/ack", token, `{"id":-1}`, 400, "invalid_request"},
		{"POST", "/v1/groups/g/ack", token, `{"id":1e3}`, 400, "invalid_request"},
		{"GET", "/v1/groups/g/messages?after=nonsense", token, "", 400, "invalid_request"},
		{"GET", "/v1/groups/g/messages?after=0", token, "", 200, ""},
		{"GET", "/v1/groups/%7Bg%7D", token, "", 400, "invalid_request"},
		{"GET", "/v1/groups/other", token, "", 404, "not_found"},
		{"GET", "/v1/groups", "", "", 401, "unauthenticated"},
		{"GET", "/v1/groups", "nonsense", "", 401, "unauthenticated"},
		{"GET", "/v1/groups", harness.Token("alice", "", -time.Hour), "", 401, "unauthenticated"},
		{"GET", "/v1/groups", harness.Sign(map[string]any{"alg": "none"}, map[string]any{"sub": "alice", "exp": 4e9}, harness.Secret), "", 401, "unauthenticated"},
		{"GET", "/v1/groups", harness.Sign(map[string]any{"alg": "HS256"}, map[string]any{"sub": "alice", "exp": 4e9}, "another secret that is long enough, too"), "", 401, "unauthenticated"},
		{"GET", "/v1/groups", harness.Sign(map[string]any{"alg": "HS256"}, map[string]any{"sub": "alice"}, harness.Secret), "", 401, "unauthenticated"},
		{"GET", "/v1/groups?token=" + token, "", "", 401, "unauthenticated"},
		{"GET", "/v1/nothing", token, "", 404, "not_found"},
		{"GET", "/livez", "", "", 200, ""},
		{"GET", "/metrics", "", "", 200, ""},
		{"GET", "/openapi.yaml", "", "", 200, ""},
		{"GET", "/docs", "", "", 200, ""},
		{"GET", "/", "", "", 200, ""},
	}
	for _, test := range tests {
		status, header, fields := do(test.method, test.path, test.token, test.body)
		name := test.method + " " + test.path[:min(len(test.path), 60)] + " " + test.body[:min(len(test.body), 40)]
		if status != test.status {
			t.Errorf("%s: got %d %v, want %d", name, status, fields, test.status)
		}
		if test.code == "" {
			continue
		}
		if fields["code"] != test.code || fields["status"] != float64(test.status) || fields["title"] == nil || fields["type"] == nil {
			t.Errorf("%s: got %v, want a problem with code %s", name, fields, test.code)
		}
		if got := header.Get("Content-Type"); got != "application/problem+json" {
			t.Errorf("%s: got content type %q", name, got)
		}
	}
}
