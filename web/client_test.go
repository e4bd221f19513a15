package web_test

import (
	"context"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
)

// TestClientForgetsWhatTheServerCannotRead resumes with a spoilt position, on a socket and by polling: the others hold, and
// that group goes on where the server knows the user to be.
func TestClientForgetsWhatTheServerCannotRead(t *testing.T) {
	s := start(t, nil)
	for _, g := range []string{"spoilt", "whole"} {
		s.must("alice", "POST", "/v1/groups", `{"id":"`+g+`","members":["bob"]}`)
		s.must("alice", "POST", "/v1/groups/"+g+"/messages", `{"body":"x"}`)
	}
	bob, err := client.New(s.url, client.StaticToken(token(t, "bob", "")))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	begin := func(next func(context.Context) (client.Event, error)) {
		t.Helper()
		from := map[string]int64{}
		for len(from) < 2 {
			event, err := next(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if e, ok := event.(client.Messages); ok && from[e.Group] == 0 {
				from[e.Group] = e.From
			}
		}
		if from["spoilt"] != 1 || from["whole"] != 3 {
			t.Errorf("begins at %v, want 1 and 3", from)
		}
	}
	saved := func() client.Cursors {
		cursors := &client.MemoryCursors{}
		if err := cursors.Save(ctx, map[string]client.Position{"spoilt": "no cursor", "whole": client.At(2)}); err != nil {
			t.Fatal(err)
		}
		return cursors
	}
	stream, err := bob.Stream(ctx, client.StreamOptions{Cursors: saved(), Backoff: client.Backoff{Base: time.Millisecond, Max: time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	begin(stream.Next)
	begin(bob.Poll(client.PollOptions{Cursors: saved()}).Next)
}
