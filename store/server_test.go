package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/conn"
)

// TestSentinelByTheDocumentedURL connects through a real sentinel, by both ways to name the primary; a name that the
// sentinel does not know stands in the error.
func TestSentinelByTheDocumentedURL(t *testing.T) {
	primary := redistest.Start(t)
	sentinel := redistest.StartSentinel(t, "mymaster", primary)
	for i, url := range []string{
		"redis-sentinel://" + sentinel.Addr + "/0?master_name=mymaster",
		"redis-sentinel://" + sentinel.Addr + "," + redistest.FreeAddr(t) + "/mymaster",
	} {
		s := open(t, store.Options{URL: url})
		group(t, s, fmt.Sprint("g", i), 100, 1000)
		send(t, s, greeting(fmt.Sprint("g", i), "alice"))
	}
	if primary.Int("DBSIZE") == 0 {
		t.Error("nothing is on the primary")
	}
	_, err := store.Open(t.Context(), store.Options{URL: "redis-sentinel://" + sentinel.Addr + "/0?master_name=other"})
	if err == nil || !strings.Contains(err.Error(), `"other"`) || !strings.Contains(err.Error(), sentinel.Addr) {
		t.Errorf("got error %v, want one that names the primary asked for, and the sentinel", err)
	}
}

// TestConditions changes a server while it serves, and looks at what operators are told.
func TestConditions(t *testing.T) {
	server := redistest.Start(t, "--appendonly", "no")
	s := open(t, store.Options{URL: server.URL()})
	expect := func(want ...conn.ConditionKind) {
		t.Helper()
		got, err := s.Conn().Conditions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		for i, c := range got {
			if c.Kind != want[i] || len(c.Message) < 20 {
				t.Errorf("got %v, want %v", c, want[i])
			}
		}
	}
	message := func() string {
		t.Helper()
		got, err := s.Conn().Conditions(t.Context())
		if err != nil || len(got) != 1 {
			t.Fatalf("got %v, %v; want one condition", got, err)
		}
		return got[0].Message
	}
	if got := message(); !strings.Contains(got, "persists nothing") {
		t.Errorf("got %q", got)
	}
	server.Do("CONFIG", "SET", "save", "3600 1")
	if got := message(); !strings.Contains(got, "snapshots only") {
		t.Errorf("got %q", got)
	}
	server.Do("CONFIG", "SET", "appendonly", "yes")
	expect()
	server.Do("CONFIG", "SET", "maxmemory-policy", "volatile-lru")
	expect(conn.ConditionEviction)
	server.Do("CONFIG", "SET", "maxmemory-policy", "noeviction")
	server.Do("CONFIG", "SET", "maxmemory", "1")
	if got := message(); !strings.Contains(got, "Redis is full") {
		t.Errorf("got %q", got)
	}
	server.Do("CONFIG", "SET", "maxmemory", "1073741824")
	expect()
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("ready: %v", err)
	}

	primary := redistest.Start(t)
	host, port, _ := strings.Cut(primary.Addr, ":")
	server.Do("REPLICAOF", host, port)
	expect(conn.ConditionReplica)
	if err := s.Ready(t.Context()); chat.CodeOf(err) != chat.CodeUnavailable {
		t.Errorf("ready on a replica: got %v, want unavailable", err)
	}
	if _, err := store.Open(t.Context(), store.Options{URL: server.URL()}); err == nil || !strings.Contains(err.Error(), "replica of "+primary.Addr) {
		t.Errorf("got error %v, want one that names the primary", err)
	}
	server.Do("REPLICAOF", "NO", "ONE")
	expect()
}
