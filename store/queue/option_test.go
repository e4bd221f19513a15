package queue

import (
	"context"
	"testing"
	"time"
)

// A task's own timeout replaces that of its kind, whichever is longer.
func TestTimeoutOfATaskReplacesThatOfItsKind(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := newServer(t, o)
		left := make(chan time.Duration, 1)
		s.HandlePolicy("k", Policy{Timeout: time.Hour}, func(ctx context.Context, _ Task) error {
			end, _ := ctx.Deadline()
			left <- time.Until(end)
			return nil
		})
		start(t, s)
		for _, want := range []time.Duration{time.Minute, 24 * time.Hour, time.Hour} {
			task := Task{Kind: "k", Timeout: want}
			if want == time.Hour {
				task.Timeout = 0
			}
			enqueue(t, s.Client, task)
			if got := receive(t, "a run", left); got > want || got < want-30*time.Second {
				t.Errorf("a run may take %v, want %v", got, want)
			}
		}
	})
}

// An option stands between the unique key and the payload, and neither is taken for it.
func TestUniqueKeyBesideAnOption(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		one := Task{Kind: "k", ID: NewID(0), Unique: "u", Timeout: time.Minute, Payload: []byte("\rtimeout 5\n")}
		enqueue(t, c, one)
		if _, ok, err := c.Enqueue(context.Background(), Task{Kind: "k", ID: NewID(0), Unique: "u"}); ok || err != nil {
			t.Errorf("a second one waits, %v", err)
		}
		got := claimOne(t, c, 0, testTerms)
		if got.Unique != "u" || got.Timeout != time.Minute || string(got.Payload) != string(one.Payload) {
			t.Errorf("got %+v", got)
		}
		if n, err := o.Client.HLen(context.Background(), c.keys[0].Unique()).Result(); n != 0 || err != nil {
			t.Errorf("the claim leaves the key, %v", err)
		}
	})
}

// A task with an option of a newer version becomes a dead letter: it must not run as if it had none.
func TestUnknownOptionIsBuried(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClient(t, o)
		for _, lines := range []string{"\rnovel 1", "\rtimeout x", "\rtimeout 0", "\rtimeout"} {
			id := enqueue(t, c, Task{Kind: "k", ID: NewID(0)})
			poke(t, o.Client, c.keys[0].Tasks(), "HSET", id, "normal 0 0 1 0 k "+lines+"\n")
			if got := claimOne(t, c, 0, testTerms); got.outcome.verdict != bury {
				t.Errorf("%q: verdict %q", lines, got.outcome.verdict)
			}
		}
	})
}
