package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
)

// A trouble is one line a minute, which counts the others, and its end is one, however often it comes and goes.
func TestOneLineOfACauseAMinute(t *testing.T) {
	var out bytes.Buffer
	now, broken := time.Unix(1e9, 0), false
	causes := newCauseLog()
	causes.now = func() time.Time { return now }
	causes.writable = func(context.Context) error {
		if broken {
			return errors.New("no")
		}
		return nil
	}
	plain := slog.New(slog.NewTextHandler(&out, nil))
	log := causes.over(plain, false)
	fail := func(n int) {
		for range n {
			log.With("group", "g").Error("request failed", "error", fmt.Errorf("send: %w", chat.ErrStoreAway))
		}
	}
	wrote := func(step string, want ...string) {
		t.Helper()
		got := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if out.Len() == 0 {
			got = nil
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %d lines, want %d:\n%s", step, len(got), len(want), out.String())
		}
		for i := range want {
			for part := range strings.SplitSeq(want[i], "|") {
				if !strings.Contains(got[i], part) {
					t.Errorf("%s: %q does not say %q", step, got[i], part)
				}
			}
		}
		out.Reset()
	}
	ends := func() bool { return !causes.exec(t.Context(), plain) }

	log.Error("another", "error", errors.New("of nothing known"))
	log.Error("another", "error", errors.New("of nothing known"))
	wrote("errors of something else", "another", "another")

	broken = true
	fail(100)
	wrote("at first", `msg="request failed" group=g error="send: |cause=away`)
	now = now.Add(59 * time.Second)
	fail(100)
	wrote("within a minute")
	now = now.Add(time.Second)
	fail(1)
	wrote("after a minute", "cause=away left_out=199")
	fail(5)
	now = now.Add(2 * time.Second)
	if ends() {
		t.Error("it is over while the store takes no writes")
	}
	broken = false
	fail(1)
	if ends() {
		t.Error("it is over while calls fail")
	}
	wrote("so far")
	now = now.Add(2 * time.Second)
	if !ends() {
		t.Error("it is not over")
	}
	wrote("at the end", `msg="the store answers again" cause=away after=1m4s left_out=6`)

	fail(3)
	now = now.Add(2 * time.Second)
	if !ends() {
		t.Error("the second is not over")
	}
	wrote("a second one within the minute")
	now = now.Add(time.Minute)
	fail(1)
	wrote("a third one", "cause=away left_out=3")
}
