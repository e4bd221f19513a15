package store_test

import (
	"errors"
	"fmt"
	"sync"

	"github.com/chatd/chatd/chat"
)

// together runs n goroutines and waits for them; the first error ends the test.
func (w *fixture) together(n int, do func(i int) error) {
	w.Helper()
	var running sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		running.Go(func() { errs[i] = do(i) })
	}
	running.Wait()
	w.ok(errors.Join(errs...))
}

var raceTests = map[string]func(*fixture){
	"sends are dense and in one order": func(w *fixture) {
		const senders, each = 8, 40
		var members []string
		for i := range senders {
			members = append(members, fmt.Sprintf("u%d", i))
		}
		w.group("g", members)
		var mu sync.Mutex
		got := map[int64]bool{}
		w.together(senders, func(i int) error {
			before := int64(0)
			for range each {
				done, err := w.Append(w.ctx, text("g", members[i], "x"))
				if err != nil {
					return err
				}
				if done.ID <= before {
					return fmt.Errorf("id %d after %d", done.ID, before)
				}
				before = done.ID
				mu.Lock()
				got[done.ID] = true
				mu.Unlock()
			}
			return nil
		})
		w.equal(len(got), senders*each)
		w.equal(ids(w.entries("g")), span(1, 1+senders+senders*each))
		for _, m := range members {
			w.equal(w.info("g", m).Unread, int64((senders-1)*each))
		}
	},
	"one key is one message": func(w *fixture) {
		w.group("g", nil)
		a := text("g", "alice", "x")
		a.Key, a.Content = "k", "c"
		var mu sync.Mutex
		firsts, found := 0, map[int64]bool{}
		w.together(16, func(int) error {
			done, err := w.Append(w.ctx, a)
			mu.Lock()
			defer mu.Unlock()
			found[done.ID] = true
			if !done.Duplicate {
				firsts++
			}
			return err
		})
		w.equal([]int{firsts, len(found)}, []int{1, 1})
	},
	"one owner": func(w *fixture) {
		members := []string{"b", "c", "d", "e"}
		w.group("g", members)
		w.together(len(members), func(i int) error {
			// Each makes the next the owner, if they may.
			_, _, err := w.SetRole(w.ctx, membership("g", members[i], "alice", chat.Owner))
			if errors.Is(err, chat.ErrForbidden) {
				return nil
			}
			return err
		})
		owners := 0
		for _, m := range append(members, "alice") {
			if w.info("g", m).Role == chat.Owner {
				owners++
			}
		}
		w.equal(owners, 1)
	},
	"join, leave, send, ack and trim": func(w *fixture) {
		w.group("g", []string{"bob", "carl"}, public, keep(5))
		const rounds = 60
		steps := []func(int) error{
			func(int) error { _, err := w.Append(w.ctx, text("g", "alice", "x")); return err },
			func(int) error { _, err := w.Append(w.ctx, text("g", "bob", "x")); return err },
			func(int) error {
				in, err := w.Infos(w.ctx, "alice", []string{"g"})
				if err == nil {
					_, err = w.Ack(w.ctx, "g", "alice", chat.At(in[0].Last), true, "")
				}
				return err
			},
			func(int) error {
				in, err := w.Infos(w.ctx, "bob", []string{"g"})
				if err == nil {
					_, err = w.Ack(w.ctx, "g", "bob", chat.At(in[0].Last), false, "")
				}
				return err
			},
			func(int) error { return joinPullLeave(w, "carl") },
			func(int) error { return joinPullLeave(w, "dora") },
			func(int) error { _, err := w.Trim(w.ctx, "g"); return err },
		}
		w.together(len(steps), func(i int) error {
			for round := range rounds {
				if err := steps[i](round); err != nil {
					return err
				}
			}
			return nil
		})
		in := w.info("g", "alice")
		w.equal(ids(w.entries("g")), span(in.Held, in.Last))
		for _, user := range []string{"alice", "bob", "carl", "dora"} {
			if u := w.info("g", user); u.Role != "" {
				w.ack("g", user, u.Last)
			}
		}
		w.equal(int64(len(w.entries("g"))), min(in.Last, 5))
	},
}

// joinPullLeave joins, sees that everything after the cursor is there, and leaves.
func joinPullLeave(w *fixture, user string) error {
	if _, _, err := w.Join(w.ctx, membership("g", user, user, "")); err != nil {
		return err
	}
	r := chat.NewReading("g", chat.Position{}, 0, 1000)
	if err := chat.Read(w.ctx, w.Store, user, []*chat.Reading{&r}); err != nil {
		return err
	}
	if r.Err != nil {
		return r.Err
	}
	next := r.Info.Seen + 1
	for _, m := range r.Messages {
		if m.ID != next {
			return fmt.Errorf("%s joined at %d and got %d where %d was due", user, r.Info.Seen, m.ID, next)
		}
		next++
	}
	if next != r.Info.Last+1 {
		return fmt.Errorf("%s got up to %d of %d", user, next-1, r.Info.Last)
	}
	_, err := w.Leave(w.ctx, membership("g", user, user, ""))
	return err
}
