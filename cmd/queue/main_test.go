package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/admin"
)

// shop is a Redis with tasks of two queues in two partitions.
type shop struct {
	t    *testing.T
	url  string
	mail *queue.Client
}

func openShop(t *testing.T) *shop {
	t.Helper()
	r := redistest.Start(t)
	rdb := redis.NewClient(&redis.Options{Addr: r.Addr, MaxRetries: -1, DisableIdentity: true})
	t.Cleanup(func() { _ = rdb.Close() })
	s := &shop{t: t, url: r.URL()}
	var err error
	if s.mail, err = queue.NewClient(queue.Options{Client: rdb, Prefix: "shop", Partitions: 2, Queue: "mail"}); err != nil {
		t.Fatal(err)
	}
	return s
}

// run returns what the command writes.
func (s *shop) run(args ...string) (string, error) {
	s.t.Helper()
	var out, log bytes.Buffer
	err := run(s.t.Context(), append([]string{"-redis", s.url, "-prefix", "shop", "-queues", "mail,media"}, args...), &out, &log)
	return out.String(), err
}

func (s *shop) must(args ...string) string {
	s.t.Helper()
	out, err := s.run(args...)
	if err != nil {
		s.t.Fatalf("%v: %v", args, err)
	}
	return out
}

func TestCommandsActOnARedis(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if _, err := s.run("stats"); err == nil || !strings.Contains(err.Error(), `no tasks under the prefix "shop"`) {
		t.Errorf("before the first task: %v", err)
	}
	ids := map[string]bool{}
	for range 3 {
		id, _, err := s.mail.Enqueue(t.Context(), queue.Task{Kind: "welcome", Payload: []byte("words of a user"), Delay: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		ids[id] = true
	}
	listed := strings.Fields(s.must("ls", "-state", "delayed", "-ids"))
	for _, id := range listed {
		if !ids[id] {
			t.Errorf("ls: %s is none of %v", id, ids)
		}
	}
	if len(listed) != 3 {
		t.Fatalf("ls: %q", listed)
	}
	var task admin.Task
	if out := s.must("show", listed[0], "-json"); json.Unmarshal([]byte(out), &task) != nil || task.Kind != "welcome" || task.State != queue.Delayed || strings.Contains(out, "words") {
		t.Errorf("show: %s", out)
	}
	if out := s.must("retry", listed[0]); out != listed[0]+" is ready\n" {
		t.Errorf("retry: %q", out)
	}
	if out, err := s.run("delete", "p00-absent", listed[0]); err == nil || !strings.Contains(err.Error(), "p00-absent: no such task") || out != listed[0]+" is deleted\n" {
		t.Errorf("delete: %q, %v", out, err)
	}
	if out := s.must("delete", "-all", "-state", "delayed", "-kind", "welcome"); out != "2 of 2 delayed tasks are deleted\n" {
		t.Errorf("delete -all: %q", out)
	}
	if out := s.must("stats"); !strings.Contains(out, "media") || !regexp.MustCompile(`(?m)^deleted +3 +0$`).MatchString(out) {
		t.Errorf("stats: %s", out)
	}
	slot, err := s.mail.Hold(t.Context(), "account 7", 1)
	if err != nil {
		t.Fatal(err)
	}
	if out := s.must("limits"); !strings.Contains(out, "account 7") {
		t.Errorf("limits: %s", out)
	}
	if err := slot.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{"queue --help": {"nope"}, "no such task": {"show", "p00-absent"}, "-redis": {"-redis", "http://x", "ls"}, "no such queue": {"pause", "nope"}} {
		if _, err := s.run(args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}

// TestServeShowsPagesAndMetrics until it is interrupted.
func TestServeShowsPagesAndMetrics(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if _, _, err := s.mail.Enqueue(t.Context(), queue.Task{Kind: "welcome"}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	read, log := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"-redis", s.url, "-prefix", "shop", "-queues", "mail", "serve", "-addr", "127.0.0.1:0"}, io.Discard, log)
		_ = log.Close()
	}()
	address := make(chan string, 1)
	go func() {
		line := make([]byte, 1000)
		n, _ := read.Read(line)
		address <- regexp.MustCompile(`http://\S+/`).FindString(string(line[:n]))
		_, _ = io.Copy(io.Discard, read)
	}()
	url := <-address
	for at, want := range map[string]string{"": `<a href="tasks?queue=mail">mail</a>`, "metrics": `queue_tasks{priority="normal",queue="mail",state="ready"} 1`} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+at, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if !strings.Contains(string(body), want) {
			t.Errorf("%s does not have %q:\n%s", at, want, body)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
