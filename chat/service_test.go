package chat_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/internal/chattest"
)

// bench is a service on a real redis-server, with the calls that most tests make.
type bench struct{ *chattest.Bench }

func newBench(t *testing.T, change ...func(*chat.Options)) *bench {
	t.Helper()
	return &bench{chattest.New(t, change...)}
}

// live runs the loops of the core and of a live part over it until the test ends.
func (b *bench) live() *live.Service {
	readers := live.New(b.Service, b.Store)
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = b.Run(ctx) })
	wg.Go(func() { _ = readers.Run(ctx) })
	b.T.Cleanup(func() { stop(); wg.Wait() })
	return readers
}

func as(user string) chat.Caller       { return chattest.As(user) }
func operator(user string) chat.Caller { return chattest.Operator(user) }

func entry(t *testing.T, raw []byte) chat.Entry {
	t.Helper()
	var e chat.Entry
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return e
}
