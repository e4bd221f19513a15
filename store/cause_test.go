package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/conn"
)

// The errors of calls that a server refuses name the cause, and are no mistakes of ours.
func TestCauseOfRefusals(t *testing.T) {
	t.Parallel()
	for cause, change := range map[conn.Cause]struct{ begin, end []string }{
		conn.CauseFull:        {[]string{"CONFIG", "SET", "maxmemory", "1mb"}, []string{"CONFIG", "SET", "maxmemory", "0"}},
		conn.CauseReadOnly:    {[]string{"REPLICAOF", "127.0.0.1", "1"}, []string{"REPLICAOF", "NO", "ONE"}},
		conn.CauseCredentials: {[]string{"CONFIG", "SET", "requirepass", "secret"}, []string{"CONFIG", "SET", "requirepass", ""}},
	} {
		t.Run(string(cause), func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			s, err := store.Open(t.Context(), store.Options{URL: server.URL(), Limits: chat.DefaultLimits()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			group(t, s, "g", 100, 1000)
			operator, err := redistest.Dial(server.Addr)
			if err != nil {
				t.Fatal(err)
			}
			defer operator.Close()
			do := func(args ...string) {
				t.Helper()
				if _, err := operator.Do(args...); err != nil {
					t.Fatal(args, err)
				}
			}
			do(change.begin...)
			if cause == conn.CauseCredentials {
				do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
			}
			short, long := greeting("g", "alice"), greeting("g", "alice")
			long.Rest = []byte(`"body":"` + strings.Repeat("x", 50_000) + `"`) // a server without a user for it says something else
			for what, call := range map[string]func() error{
				"probe": func() error { return s.Conn().Writable(t.Context()) },
				"send":  func() error { _, err := s.Append(t.Context(), short); return err },
				"large": func() error { _, err := s.Append(t.Context(), long); return err },
			} {
				repeat(t, "the "+what+" to be refused", func() bool { // after those that have lost their connections
					err := call()
					if err != nil && what != "probe" && chat.CodeOf(err) != chat.CodeUnavailable {
						t.Fatalf("%s: %v, want unavailable", what, err)
					}
					return store.CauseOf(err) == cause
				})
			}
			do(change.end...)
			repeat(t, "the store to take writes", func() bool { return s.Conn().Writable(t.Context()) == nil })
			send(t, s, short)
		})
	}
}

// repeat calls until it returns true.
func repeat(t *testing.T, what string, call func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !call(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func TestCauseOfErrors(t *testing.T) {
	t.Parallel()
	dial := &net.OpError{Op: "dial", Err: errors.New("refused")}
	for _, c := range []struct {
		err            error
		want, wantCall conn.Cause
	}{
		{chat.ErrStoreAway, conn.CauseAway, conn.CauseAway},
		{fmt.Errorf("send: %w", chat.ErrStoreAway), conn.CauseAway, conn.CauseAway},
		{dial, "", conn.CauseAway}, // of another server, as far as the error says
		{io.EOF, "", conn.CauseAway},
		{context.Canceled, "", ""},
		{errors.New("OOM is no answer"), "", ""},
		{nil, "", ""},
	} {
		if got, call := store.CauseOf(c.err), store.CauseOfCall(c.err); got != c.want || call != c.wantCall {
			t.Errorf("%v: %q and %q, want %q and %q", c.err, got, call, c.want, c.wantCall)
		}
	}
}
