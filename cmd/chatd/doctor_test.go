package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store/doctor"
	"github.com/chatd/chatd/store/embedded"
)

// TestDoctor examines stores as an operator would: healthy ones, damaged ones, and unreadable ones.
func TestDoctor(t *testing.T) {
	server := redistest.Start(t, "--appendonly", "yes")
	url := server.URL()
	if _, _, err := call(t, "doctor", "-redis", url); err == nil || exitCode(err) != exitFailed || !strings.Contains(err.Error(), "no chatd store") {
		t.Errorf("an empty store: got %v with exit code %d", err, exitCode(err))
	}
	if n := server.Int("DBSIZE"); n != 0 {
		t.Errorf("the look at an empty store has left %d keys", n)
	}
	b := chattest.Open(t, url)
	chattest.Work(t, b.Store, b.Service)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
	b.Say("alice", "g", "hello")
	out, _, err := call(t, "doctor", "-redis", url)
	if err != nil || !strings.Contains(out, "0 findings") || !strings.Contains(out, "1 group,") || !strings.Contains(out, "layout 1") {
		t.Fatalf("a sound store: got %v\n%s", err, out)
	}

	server.Do("ZADD", "chat:{p00}:u:eve:groups", "0", "g")
	server.Do("SET", "chat:{p00}:strange", "x")
	out, _, err = call(t, "doctor", "-redis", url)
	if exitCode(err) != exitFindings || !strings.Contains(out, "index: chat:{p00}:u:eve:groups ") || !strings.Contains(out, "2 findings; -repair repairs 1") {
		t.Errorf("a damaged store: got %v\n%s", err, out)
	}
	out, _, err = call(t, "doctor", "-repair", "-json", "-redis", url)
	var got struct {
		Chatd    string
		Complete bool
		Server   struct{ Kind, Version string }
		Findings []struct {
			Kind, Key, Message, Repair string
			Repaired                   bool
		}
	}
	if jsonErr := json.Unmarshal([]byte(out), &got); jsonErr != nil || exitCode(err) != exitFindings {
		t.Fatalf("-repair -json: got %v, %v\n%s", err, jsonErr, out)
	}
	if !got.Complete || got.Server.Kind != "redis" || got.Server.Version == "" || !strings.HasPrefix(got.Chatd, "chatd ") || len(got.Findings) != 2 {
		t.Errorf("-json: got %+v", got)
	}
	for _, f := range got.Findings {
		if f.Repaired != (f.Kind == "index") {
			t.Errorf("repaired: got %+v", f)
		}
	}
	if server.Int("EXISTS", "chat:{p00}:strange", "chat:{p00}:u:eve:groups") != 1 {
		t.Error("-repair removed more, or less, than what is derived")
	}
	if _, _, err := call(t, "doctor", "-redis", "redis://127.0.0.1:1/0"); exitCode(err) != exitFailed {
		t.Errorf("no server: got %v with exit code %d", err, exitCode(err))
	}
}

func TestDoctorOnTheEmbeddedStore(t *testing.T) {
	data := t.TempDir()
	if _, _, err := call(t, "doctor", "-data", data); exitCode(err) != exitFailed || !strings.Contains(err.Error(), "no embedded store") {
		t.Errorf("no store: got %v", err)
	}
	running, err := embedded.Open(t.Context(), embedded.Options{Dir: data + "/store"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := call(t, "doctor", "-data", data); exitCode(err) != exitFailed || !strings.Contains(err.Error(), "POST /v1/doctor") {
		t.Errorf("a running node: got %v", err)
	}
	if err := running.Close(); err != nil {
		t.Fatal(err)
	}
	// It has no version of a server.
	report := doctor.Report{Server: doctor.Server{Kind: "embedded", Role: "master", Layout: 1, Partitions: 1, Persistence: "journal", Eviction: "noeviction"}}
	if got, want := summary(report, false), "\nstore: embedded, master with 0 replicas, layout 1, 1 partition, persistence: journal, eviction: noeviction\n"; !strings.Contains(got, want) {
		t.Errorf("summary: got %q, want %q in it", got, want)
	}
}

// TestDoctorInterrupted: the findings so far are printed, and the exit code says that they are not all.
func TestDoctorInterrupted(t *testing.T) {
	server := redistest.Start(t, "--appendonly", "yes")
	b := chattest.Open(t, server.URL())
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out, log bytes.Buffer
	env := &environment{ctx, nil, &out, &log}
	shown := progress{out: &log, command: "doctor", of: "keys", last: time.Now().Add(-time.Hour)}
	shown.show(1, 10)
	if got := log.String(); got != "doctor: 1 of about 10 keys (10 %)\n" {
		t.Errorf("progress: got %q", got)
	}
	bar := progress{out: &log, command: "doctor", of: "keys", terminal: true}
	bar.show(5, 10)
	if got := log.String(); !strings.HasSuffix(got, "\r[===============               ] 5 of about 10 keys") {
		t.Errorf("progress on a terminal: got %q", got)
	}
	stop()
	if err := run(env.ctx, []string{"doctor", "-redis", server.URL()}, nil, &out, &log); exitCode(err) != exitInterrupted {
		t.Errorf("interrupted: got %v with exit code %d", err, exitCode(err))
	}
}
