package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
)

func TestCheckURL(t *testing.T) {
	for raw, want := range map[string]string{ // part of the error; empty: none
		"redis://localhost":                                       "",
		"redis://localhost:6379/0":                                "",
		"redis://user:secret@localhost:6379?db=3":                 "",
		"redis://:secret@[::1]:6379/0":                            "",
		"rediss://localhost/1?skip_verify=true":                   "",
		"redis-sentinel://a:26379,b:26379/0?master_name=main":     "",
		"redis-sentinel://a:26379, b:26379/0?master_name=main":    "",
		"redis-sentinel://a,b,[::1]:26379/?master_name=main&db=2": "",
		"redis-sentinel://u:p@a/main":                             "",
		"redis-sentinel://a/main/3?tls=true&sentinel_password=x":  "",
		"":                               "redis://",
		"http://localhost":               "begins with",
		"redis-cluster://localhost:7000": "",
		"redis-cluster://u:p@a:1,b,[::1]:3/?partitions=16":   "",
		"rediss-cluster://a,b?skip_verify=true":              "",
		"redis-cluster://":                                   "host is missing",
		"redis-cluster://a,,b":                               "host is missing",
		"redis-cluster://a/1":                                "no databases",
		"redis-cluster://a?db=1":                             `"db"`,
		"redis-cluster://a?skip_verify=true":                 `"skip_verify"`,
		"redis-cluster://a?partitions=0":                     "from 1 to",
		"redis-cluster://a?partitions=many":                  "from 1 to",
		"redis-cluster://u:canary@a:x":                       "host is missing",
		"redis://":                                           "host is missing",
		"redis://local host":                                 "host is missing",
		"redis://localhost:66000":                            "host is missing",
		"redis://localhost:x":                                "host is missing",
		"redis://a,b":                                        "several hosts",
		"redis://localhost/x":                                "database",
		"redis://localhost/-1":                               "database",
		"redis://localhost/1/2":                              "more than one database",
		"redis://localhost/1?db=2":                           "more than one database",
		"redis://localhost#0":                                "want redis://",
		"redis://localhost?pool_size=3":                      `"pool_size"`,
		"redis://localhost?skip_verify=true":                 `"skip_verify"`,
		"rediss://localhost?skip_verify=yes":                 "true or false",
		"redis://localhost?db=1&db=2":                        "more than once",
		"redis://localhost?%zz":                              "name=value",
		"redis-sentinel://a:26379":                           "master_name",
		"redis-sentinel://a:26379/0":                         "master_name",
		"redis-sentinel://a/main?mastername=x":               `"mastername"`,
		"redis-sentinel://a/0/1?master_name=main":            "more than one database",
		"redis-sentinel:///0?master_name=main":               "host is missing",
		"redis-sentinel://a,,b/0?master_name=main":           "host is missing",
		"redis-sentinel://a/0?master_name=main&tls=maybe":    "true or false",
		"redis://u:canary@localhost:x/0":                     "host is missing",
		"redis-sentinel://u:canary@a/0?master_name=m&p@ss=x": "not a plain name",
		"redis://u:12/canary@host/0":                         "database", "redis://u:12?canary@host": "not a plain name",
	} {
		err := store.CheckURL(raw)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: got error %v", raw, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got error %v, want one about %q", raw, err, want)
		case err != nil && strings.Contains(err.Error(), "canary"):
			t.Errorf("%s: the error shows the password: %v", raw, err)
		}
	}
}

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
		send(t, s, text(fmt.Sprint("g", i), "alice"))
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
	expect := func(want ...store.ConditionKind) {
		t.Helper()
		got, err := s.Conditions(t.Context())
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
		got, err := s.Conditions(t.Context())
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
	expect(store.ConditionEviction)
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
	expect(store.ConditionReplica)
	if err := s.Ready(t.Context()); chat.CodeOf(err) != chat.CodeUnavailable {
		t.Errorf("ready on a replica: got %v, want unavailable", err)
	}
	if _, err := store.Open(t.Context(), store.Options{URL: server.URL()}); err == nil || !strings.Contains(err.Error(), "replica of "+primary.Addr) {
		t.Errorf("got error %v, want one that names the primary", err)
	}
	server.Do("REPLICAOF", "NO", "ONE")
	expect()
}
