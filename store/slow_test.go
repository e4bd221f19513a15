package store_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/embedded"
)

// crawling is an embedded store on a machine so slow that no answer comes within any time limit of a connection.
type crawling struct{ *embedded.Store }

func (c crawling) Dialer() func(ctx context.Context, network, addr string) (net.Conn, error) {
	dial := c.Store.Dialer()
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		return &crawlingConn{Conn: conn}, err
	}
}

type crawlingConn struct {
	net.Conn
	limited atomic.Bool // the reads that follow have a time limit
}

func (c *crawlingConn) SetDeadline(by time.Time) error {
	c.limited.Store(!by.IsZero())
	return c.Conn.SetDeadline(by)
}

func (c *crawlingConn) SetReadDeadline(by time.Time) error {
	c.limited.Store(!by.IsZero())
	return c.Conn.SetReadDeadline(by)
}

func (c *crawlingConn) Read(p []byte) (int, error) {
	if c.limited.Load() {
		return 0, os.ErrDeadlineExceeded
	}
	return c.Conn.Read(p)
}

// The embedded store is in the same process: when the machine is slow its answers come late, and no time limit of a
// network turns them into errors.
func TestEmbeddedMayBeSlow(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background()) // no deadline: that of a caller holds
	s := open(t, store.Options{Embedded: crawling{embeddedServer(t)}})
	signals, listening := make(chan live.Signal, 16), make(chan struct{})
	go func() {
		defer close(listening)
		_ = s.Listen(ctx, func(sig live.Signal) { signals <- sig })
	}()
	defer func() { stop(); <-listening }()
	patience, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if err := s.Follow(patience, nil, []string{"bob"}); err != nil { // waits beside the connection
		t.Fatal(err)
	}
	if _, _, _, err := s.InboxAppend(ctx, chat.NewItem{To: "bob", From: "ann", Rest: []byte(`"body":"hi"}`), SentAtMs: 1}); err != nil {
		t.Fatal(err)
	}
	for {
		select {
		case sig := <-signals:
			if sig.Kind == live.SignalInbox && sig.User == "bob" {
				return
			}
		case <-patience.Done():
			t.Fatal("no signal of the item came")
		}
	}
}

// TestEmbeddedUnderLoad: many reads of many groups and many sends at once take their time on the embedded store; none is
// refused.
func TestEmbeddedUnderLoad(t *testing.T) {
	const groups, times, syncs, senders = 50, 2, 16, 100
	s := open(t, store.Options{Embedded: embeddedServer(t)})
	pulls := make([]chat.Pull, 0, groups*times)
	for i := range groups * times {
		pulls = append(pulls, chat.Pull{Group: fmt.Sprintf("g%d", i%groups), From: 1, Limit: 10})
		if i < groups {
			group(t, s, pulls[i].Group, 100, 1000)
		}
	}
	var all sync.WaitGroup
	for range syncs {
		all.Go(func() {
			if _, err := s.Pull(t.Context(), "bob", pulls); err != nil {
				t.Errorf("sync: %v", err)
			}
		})
	}
	for i := range senders {
		all.Go(func() {
			if _, err := s.Append(t.Context(), greeting(fmt.Sprintf("g%d", i%groups), "alice")); err != nil {
				t.Errorf("send: %v", err)
			}
		})
	}
	all.Wait()
}
