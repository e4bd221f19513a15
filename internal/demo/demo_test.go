package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/png"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

const testMax = 5 * time.Minute // far more than any test takes on a machine that has little time for it

func TestMain(m *testing.M) { harness.Main(m) }

// begun is a server on which Begin has run.
func begun(ctx context.Context, t *testing.T) Server {
	t.Helper()
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_EGRESS_ALLOW": "127.0.0.0/8"}})
	receiver := httptest.NewServer(Receiver)
	t.Cleanup(receiver.Close)
	s := Server{Receiver: receiver.URL, As: func(user string) (*client.Client, error) {
		role := ""
		if user == Operator {
			role = "admin"
		}
		return client.New(node.URL(), client.StaticToken(harness.Token(user, role, time.Hour)))
	}}
	if err := Begin(ctx, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// as acts as a user.
func (s Server) as(t *testing.T, user string) *client.Client {
	t.Helper()
	c, err := s.As(user)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// groupsOf are the groups of a user, with all that was said there.
func groupsOf(ctx context.Context, t *testing.T, s Server, user string) (groups []client.GroupState, said map[string][]client.Message) {
	t.Helper()
	c, said := s.as(t, user), map[string][]client.Message{}
	list, err := c.Groups(ctx, client.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range list.Groups {
		for after := int64(0); after < g.Last; {
			page, err := c.Messages(ctx, g.ID, client.Range{After: client.At(after), Limit: 1000})
			if err != nil {
				t.Fatal(err)
			}
			after = page.To
			said[g.ID] = append(said[g.ID], page.Messages...)
		}
	}
	return list.Groups, said
}

// shown is what a user sees, without what differs from server to server.
func shown(ctx context.Context, t *testing.T, s Server, user string) (all []string) {
	t.Helper()
	groups, said := groupsOf(ctx, t, s, user)
	for _, g := range groups {
		all = append(all, fmt.Sprint(g.ID, " ", g.Name, " ", g.Unread, " ", g.MentionsUnread, " ", g.Read))
		for _, m := range said[g.ID] {
			files := ""
			for _, f := range m.Files {
				files += f.Name + " " + f.SHA256
			}
			all = append(all, fmt.Sprint(m.ID, m.From, m.Kind, m.Body, string(m.Data), m.ReplyTo, m.Mentions, m.Target, m.Emoji, m.DeletedAt != nil, files))
		}
	}
	return all
}

// TestBegin: a server that imported nothing gets everything, and two get the same.
func TestBegin(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), testMax)
	defer cancel()
	first := begun(ctx, t)
	got := shown(ctx, t, first, "alice")
	if again := shown(ctx, t, begun(ctx, t), "alice"); !cmp.Equal(got, again) {
		t.Errorf("two servers differ: %s", cmp.Diff(got, again))
	}
	if lines := len(got); lines < 500 || !strings.HasPrefix(got[0], launch+" Trailmap 2.0 3 1") {
		t.Errorf("got %d lines, the first is %q", lines, got[0])
	}
	replies := 1 // of today
	for _, l := range launchPast {
		if l.reply != "" {
			replies++
		}
	}
	_, said := groupsOf(ctx, t, first, "alice")
	for _, m := range said[launch] {
		if m.ReplyTo > 0 {
			replies--
		}
	}
	if replies != 0 {
		t.Errorf("%d replies too few", replies)
	}
	// What follows the edit, the deletion and the files of today.
	whole := strings.Join(got, "\n")
	for _, want := range []string{"The rollout has started: 10%", "elevation.png", "release-checklist.pdf", "release-notes.txt", `"type":"deploy"`, "صباح", "> The back arrow", "```swift"} {
		if !strings.Contains(whole, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(whole, "bike shed") {
		t.Error("a deleted message still has its text")
	}
}

// TestTalk: people say the whole script, with signs of typing, but for somebody who is signed in elsewhere.
func TestTalk(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), testMax)
	defer cancel()
	s := begun(ctx, t)
	want := 0
	for _, l := range script {
		if strings.HasPrefix(l.from, "hiker") {
			if _, err := s.as(t, "mateo").PutMember(ctx, community, l.from, ""); err != nil {
				t.Fatal(err)
			}
		}
		if l.from != "zoe" {
			want++
		}
	}
	zoe := here(ctx, t, s, "zoe")
	typed := make(chan bool, 1)
	go func() {
		for seen := false; ; {
			e, err := zoe.Next(ctx)
			if err != nil {
				typed <- seen
				return
			}
			if _, is := e.(client.Typing); is {
				seen = true
			}
		}
	}()
	before := written(ctx, t, s)
	if err := Talk(ctx, s, Speed{Lines: len(script)}); err != nil {
		t.Fatal(err)
	}
	got := 0
	for key, m := range written(ctx, t, s) {
		if _, old := before[key]; old {
			continue
		}
		if m.From == "zoe" {
			t.Errorf("a %s was sent in the name of zoe, who is here: %s%s", m.Kind, m.Body, m.Emoji)
		}
		if m.Kind == client.KindText {
			got++
		}
	}
	if got != want {
		t.Errorf("%d lines were said, want %d", got, want)
	}
	zoe.Close()
	if !<-typed {
		t.Error("nobody was typing")
	}
}

// TestTalkUnheard: somebody who is here is not spoken for, though their voice does not reach the server and so has no session.
func TestTalkUnheard(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), testMax)
	defer cancel()
	s := begun(ctx, t)
	here(ctx, t, s, script[0].from)
	before := written(ctx, t, s)
	mute := Server{As: func(user string) (*client.Client, error) {
		c, err := s.As(user)
		if err == nil && user == script[0].from {
			client.WithDialer(&websocket.Dialer{NetDialContext: func(context.Context, string, string) (net.Conn, error) {
				return nil, errors.New("the cable is cut")
			}})(c)
		}
		return c, err
	}}
	if err := Talk(ctx, mute, Speed{Lines: 1}); err != nil {
		t.Fatal(err)
	}
	if after := written(ctx, t, s); len(after) != len(before) {
		t.Errorf("%d lines were said", len(after)-len(before))
	}
}

// here is a session of a user, who is signed in until the test ends.
func here(ctx context.Context, t *testing.T, s Server, user string) *client.Stream {
	t.Helper()
	stream, err := s.as(t, user).Stream(ctx, client.StreamOptions{Start: client.StartNewest})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stream.Close)
	switch e, err := stream.Next(ctx); e.(type) {
	case client.Connected:
	default:
		t.Fatalf("%s has no session: got %+v, %v", user, e, err)
	}
	return stream
}

// written are all texts and reactions in the groups of two people, by group and id.
func written(ctx context.Context, t *testing.T, s Server) map[string]client.Message {
	t.Helper()
	all := map[string]client.Message{}
	for _, user := range []string{"alice", "amina"} {
		_, said := groupsOf(ctx, t, s, user)
		for group, messages := range said {
			for _, m := range messages {
				if m.Kind == client.KindText || m.Kind == client.KindReaction {
					all[fmt.Sprint(group, " ", m.ID)] = m
				}
			}
		}
	}
	return all
}

// TestPictures: everybody has a picture, each another one.
func TestPictures(t *testing.T) {
	seen := map[string]string{}
	for _, p := range People {
		picture, err := p.scene.avatar()
		if err != nil {
			t.Fatal(err)
		}
		if drawn, err := png.Decode(bytes.NewReader(picture)); err != nil || drawn.Bounds().Dx() != avatarSide {
			t.Errorf("%s: %v", p.ID, err)
		}
		if other := seen[string(picture)]; other != "" {
			t.Errorf("%s and %s look the same", p.ID, other)
		}
		seen[string(picture)] = p.ID
	}
}
