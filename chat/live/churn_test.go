package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
)

// churned is what a session must be able to believe of what it is given while its user comes and goes.
type churned struct {
	in     map[string]bool
	to     map[string]int64
	epochs map[string]string
}

// take applies an event. It returns what is wrong with it.
func (c *churned) take(e live.Event) error {
	switch b := e.Messages; {
	case e.Joined != "" && c.in[e.Joined], e.Left != "" && !c.in[e.Left]:
		return fmt.Errorf("joined %q or left %q twice", e.Joined, e.Left)
	case e.Joined != "":
		c.in[e.Joined] = true
	case e.Left != "":
		delete(c.in, e.Left)
	case b == nil:
	case !c.in[b.Group]:
		return fmt.Errorf("%s: a batch from %d outside of the group", b.Group, b.From)
	default:
		if last := c.to[b.Group]; c.epochs[b.Group] == b.Epoch && b.From != last+1 {
			var first chat.Entry
			if len(b.Messages) > 0 {
				if err := json.Unmarshal(b.Messages[0].JSON, &first); err != nil {
					return err
				}
			}
			// A gap is right where the history before joining is hidden, a repeat never is.
			if b.From <= last || first.Notice != chat.NoticeJoined || first.User != "eve" {
				return fmt.Errorf("%s: from %d after %d", b.Group, b.From, last)
			}
		}
		c.to[b.Group], c.epochs[b.Group] = b.To, b.Epoch
	}
	return nil
}

// TestFollowChurn adds and removes a user, deletes groups and creates them again at once, while the user is connected to two
// nodes. Every session hears of each change once, gets no entry twice, and ends with everything.
func TestFollowChurn(t *testing.T) {
	l := startLive(t, nil)
	other := joinLive(t, l.redis, nil)
	random := rand.New(rand.NewPCG(1, 2))
	ctx, ann, groups := t.Context(), chat.Caller{User: "ann"}, []string{"c0", "c1", "c2"}
	create := func(g string, members ...string) {
		t.Helper()
		history := g != "c0"
		if _, err := l.CreateGroup(ctx, ann, chat.GroupDraft{ID: g, Members: members, History: &history}); err != nil {
			t.Fatal(err)
		}
	}
	for _, g := range groups {
		create(g)
	}
	ends := make(chan map[string]int64, 4)
	var sessions sync.WaitGroup
	for i := range 4 {
		node := []*node{l, other}[i%2]
		f := node.listen(t, "eve", nil)
		sessions.Go(func() { followChurn(t, f, ends) })
	}

	in := map[string]bool{}
	put := func(g string) {
		t.Helper()
		if _, _, err := l.PutMember(ctx, ann, g, "eve", ""); err != nil {
			t.Fatal(err)
		}
		in[g] = true
	}
	for range 400 {
		g := groups[random.IntN(len(groups))]
		switch n := random.IntN(10); {
		case n < 5:
			l.say(t, g, "ann", "m")
		case n < 8 && !in[g]:
			put(g)
		case n < 8:
			if err := other.RemoveMember(ctx, ann, g, "eve"); err != nil {
				t.Fatal(err)
			}
			in[g] = false
		default:
			if err := l.DeleteGroup(ctx, ann, g); err != nil {
				t.Fatal(err)
			}
			if in[g] = n == 8; in[g] {
				create(g, "eve")
			} else {
				create(g)
			}
		}
	}
	end := map[string]int64{}
	for _, g := range groups {
		if !in[g] {
			put(g)
		}
		end[g] = l.say(t, g, "ann", "end")
	}
	for range 4 {
		ends <- end
	}
	l.say(t, groups[0], "ann", "wakes those that have everything")
	sessions.Wait()
}

// followChurn follows until it has what ends tells.
func followChurn(t *testing.T, f *listener, ends <-chan map[string]int64) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	c := churned{in: map[string]bool{}, to: map[string]int64{}, epochs: map[string]string{}}
	for g := range f.Welcome().Groups {
		c.in[g] = true
	}
	var end map[string]int64
	for {
		e, err := f.Next(ctx)
		if err == nil {
			err = c.take(e)
		}
		if err != nil {
			t.Errorf("at %v in %v, want %v: %v", c.to, c.in, end, err)
			return
		}
		if end == nil { // one for each session
			select {
			case end = <-ends:
			default:
			}
		}
		done := end != nil
		for g, id := range end {
			done = done && c.in[g] && c.to[g] >= id
		}
		if done {
			return
		}
	}
}
