package embedded

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// openStore opens a store and closes it when the test ends.
func openStore(t testing.TB, o Options) *Store {
	t.Helper()
	if o.Log == nil {
		o.Log = quiet()
	}
	s, err := Open(context.Background(), o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// client connects as chatd does.
func client(t testing.TB, s *Store) *redis.Client {
	t.Helper()
	c := redis.NewClient(clientOptions(s))
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func clientOptions(s *Store) *redis.Options {
	return &redis.Options{Dialer: s.Dialer(), Protocol: 2, DisableIdentity: true, MaxRetries: -1, PoolSize: 64,
		ReadTimeout: -1, WriteTimeout: -1}
}

// sendLua does what a send of chatd does: a dense id, an entry, a cursor, a signal.
const sendLua = `
local id = redis.call('INCR', KEYS[1])
local now = redis.call('TIME')
redis.call('ZADD', KEYS[2], id, string.format('%.0f', id) .. ' ' .. now[1] .. '.' .. now[2] .. ' ' .. ARGV[2])
redis.call('PUBLISH', ARGV[1], ARGV[2])
return id`

var (
	sendScript = redis.NewScript(sendLua)
	sendKeys   = []string{"chat:{p00}:g:general:id", "chat:{p00}:g:general:msgs"}
)

func send(ctx context.Context, c *redis.Client, text string) (int64, error) {
	return sendScript.Run(ctx, c, sendKeys, "chat:{p00}:g:general", text).Int64()
}

func mustSend(t testing.TB, c *redis.Client, text string) int64 {
	t.Helper()
	id, err := send(context.Background(), c, text)
	if err != nil {
		t.Fatalf("send: %v", err)
	}
	return id
}

// generation returns how many journals there have been, including the current one.
func generation(s *Store) uint64 {
	s.order.Lock()
	defer s.order.Unlock()
	return s.j.gen
}

// contents returns everything in the store, as text.
func contents(t testing.TB, s *Store) string {
	t.Helper()
	return contentsOf(s)
}

func contentsOf(s *Store) string {
	var b strings.Builder
	db := s.m.DB(0)
	for _, k := range db.Keys() {
		kind := db.Type(k)
		fmt.Fprintf(&b, "%s %q:", kind, k)
		switch kind {
		case "string":
			v, _ := db.Get(k)
			fmt.Fprintf(&b, " %q", v)
		case "hash":
			fields, _ := db.HKeys(k)
			for _, f := range fields {
				fmt.Fprintf(&b, " %q=%q", f, db.HGet(k, f))
			}
		case "list":
			l, _ := db.List(k)
			fmt.Fprintf(&b, " %q", l)
		case "set":
			l, _ := db.Members(k)
			fmt.Fprintf(&b, " %q", l)
		case "zset":
			z := s.sets.byKey[k]
			for e := range z.between(0, z.len(), false) {
				fmt.Fprintf(&b, " %x=%q", e.score, e.member)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// clone copies a folder as a crash would leave it: the current contents of the files, without the lock. Of two journals
// it copies the newer first, because the older one ends before anything is written to the newer.
func clone(t testing.TB, from string) string {
	t.Helper()
	to := t.TempDir()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range slices.Backward(entries) {
		if e.Name() == "lock" {
			continue
		}
		b, err := os.ReadFile(filepath.Join(from, e.Name()))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, e.Name()), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}
