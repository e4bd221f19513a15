package web_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/node"
)

// TestServerSaysWhatItHas asks without a token, and from a page of another origin that may call.
func TestServerSaysWhatItHas(t *testing.T) {
	type about struct {
		Version      string
		Features     []string
		Limits       map[string]int64
		Accounts     bool
		Registration json.RawMessage
		Time         time.Time
	}
	ask := func(change func(*node.Config)) (a about) {
		t.Helper()
		s := start(t, change)
		got := s.do(request{method: http.MethodGet, path: "/v1/server", header: map[string]string{"Origin": "https://app.example.com"}})
		if got.status != http.StatusOK || got.header.Get("Access-Control-Allow-Origin") != "https://app.example.com" {
			t.Fatalf("got %d %v %s", got.status, got.header, got.body)
		}
		if err := json.Unmarshal([]byte(got.body), &a); err != nil {
			t.Fatal(err)
		}
		if a.Version == "" || a.Accounts || string(a.Registration) != "null" || time.Since(a.Time).Abs() > time.Minute {
			t.Errorf("got %s", got.body)
		}
		return a
	}
	origins := []string{"https://app.example.com"}
	full := ask(func(c *node.Config) { c.Origins = origins })
	if want := []string{"announcements", "archive", "batch", "blocks", "direct", "files", "hooks", "invites", "keys", "push", "reports", "schedules", "search", "streams", "users", "webhooks"}; !slices.Equal(full.Features, want) {
		t.Errorf("got the features %v, want %v", full.Features, want)
	}
	for name, want := range map[string]int64{
		"body": 16 << 10, "request": 1 << 20, "batch": 8 << 20, "batch_ops": 1000, "page": 1000, "mentions": 50, "members": 100_000, "members_created": 1000, "groups": 10_000,
		"inbox": 10_000, "emoji": 64, "reactions": 20, "edits": 200, "devices": 20, "schedules": 10_000, "sessions": 20, "wait_s": 50,
		"page_bytes": 1 << 20, "file": 100 << 20, "files_user": 10 << 30, "files_group": 10 << 30,
	} {
		if full.Limits[name] != want {
			t.Errorf("%s: got %d, want %d", name, full.Limits[name], want)
		}
	}
	small := ask(func(c *node.Config) {
		c.Origins, c.Archive, c.Files, c.Dev, c.MaxBody, c.MaxPage = origins, "off", "off", "on", "100", "7"
	})
	if want := []string{"announcements", "batch", "blocks", "dev", "direct", "hooks", "invites", "keys", "push", "reports", "schedules", "streams", "users", "webhooks"}; !slices.Equal(small.Features, want) {
		t.Errorf("got the features %v, want %v", small.Features, want)
	}
	if _, files := small.Limits["file"]; files || small.Limits["body"] != 100 || small.Limits["page"] != 7 {
		t.Errorf("got the limits %v", small.Limits)
	}
}
