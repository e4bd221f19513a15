package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/internal/redistest"
)

// linked is a server of pages that counts what is asked of it.
func linked(t *testing.T, asked *atomic.Int64) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path != "/nothing" {
			_, _ = fmt.Fprintf(w, `<title>Page %s</title><meta property="og:description" content="by %s">`, r.URL.Path, r.UserAgent())
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// previewOf waits until an answer has the preview of a link.
func (s *server) previewOf(link string, ask func() answer) map[string]any {
	s.t.Helper()
	var found map[string]any
	harness.Eventually(s.t, 30*time.Second, "the answer has the preview", func() error {
		a := ask()
		all, _ := a.field("previews").(map[string]any)
		if groups, _ := a.field("groups").([]any); len(groups) == 1 {
			group, _ := groups[0].(map[string]any)
			all, _ = group["previews"].(map[string]any)
		}
		if found, _ = all[link].(map[string]any); found == nil {
			return fmt.Errorf("got %d %s", a.status, a.body)
		}
		return nil
	})
	return found
}

// TestPreviews: pages and syncs of two nodes carry the preview of a link that was fetched once.
func TestPreviews(t *testing.T) {
	var asked atomic.Int64
	at := linked(t, &asked)
	store := redistest.Start(t)
	on := func(c *node.Config) {
		c.Redis, c.Previews, c.Log, c.EgressAllow = store.URL(), "on", "debug", []string{"127.0.0.0/8"}
	}
	nodes := []*server{start(t, on), start(t, on)}
	nodes[0].must("ann", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`)
	link, nothing := at+"/tea", at+"/nothing"
	nodes[0].must("ann", "POST", "/v1/groups/g/messages", `{"body":"look: `+link+`, and `+nothing+`"}`)
	if n := asked.Load(); n != 0 {
		t.Errorf("a send asked the page %d times", n)
	}
	for _, s := range nodes {
		for name, ask := range map[string]func() answer{
			"page": func() answer { return s.do(request{method: "GET", path: "/v1/groups/g/messages", user: "bob"}) },
			"sync": func() answer { return s.do(request{method: "POST", path: "/v1/sync", body: `{}`, user: "bob"}) },
		} {
			p := s.previewOf(link, ask)
			about, _ := p["description"].(string)
			if p["title"] != "Page /tea" || !strings.HasPrefix(about, "by chatd/") || !strings.HasSuffix(about, " (+link preview)") || len(p) != 2 {
				t.Errorf("%s: got %v", name, p)
			}
			if a := ask(); strings.Contains(a.body, `"`+nothing+`":`) {
				t.Errorf("%s: a page without a title has a preview: %s", name, a.body)
			}
		}
		if a := s.do(request{method: "GET", path: "/v1/groups/g/messages", user: "eve"}); a.status != http.StatusNotFound && a.status != http.StatusForbidden {
			t.Errorf("who may not read: %d %s", a.status, a.body)
		}
		if a := s.do(request{method: "GET", path: "/v1/server"}); !strings.Contains(a.body, `"previews"`) {
			t.Errorf("GET /v1/server: %s", a.body)
		}
	}
	harness.Eventually(t, 30*time.Second, "both pages were asked", func() error {
		if n := asked.Load(); n < 2 {
			return fmt.Errorf("%d requests", n)
		}
		return nil
	})
	if n := asked.Load(); n != 2 {
		t.Errorf("two links were fetched by %d requests", n)
	}
	id := fmt.Sprint(nodes[0].do(request{method: "POST", path: "/v1/groups/g/messages", body: `{"body":"` + link + `"}`, user: "ann"}).field("id"))
	nodes[1].previewOf(link, func() answer {
		return nodes[1].do(request{method: "GET", path: "/v1/groups/g/messages?limit=1&before=" + fmt.Sprint(id) + "0", user: "bob"})
	})
	// A live frame has what is known by then.
	live := nodes[0].sit("bob")
	nodes[0].must("ann", "POST", "/v1/groups/g/messages", `{"body":"again `+link+`"}`)
	frame := live.await("messages", func(f map[string]any) bool { return strings.Contains(fmt.Sprint(f["messages"]), "again") })
	all, _ := frame["previews"].(map[string]any)
	if p, _ := all[link].(map[string]any); p["title"] != "Page /tea" {
		t.Errorf("got %v", frame)
	}
	_ = live.Close()
	for _, s := range nodes {
		s.close()
		if strings.Contains(s.log.String(), at) {
			t.Error("the log has the link")
		}
	}
}

// TestPreviewsAreOff unless they are switched on: nothing is fetched, kept or said.
func TestPreviewsAreOff(t *testing.T) {
	var asked atomic.Int64
	at := linked(t, &asked)
	store := redistest.Start(t)
	s := start(t, func(c *node.Config) { c.Redis, c.EgressAllow = store.URL(), []string{"127.0.0.0/8"} })
	s.must("ann", "POST", "/v1/groups", `{"id":"g"}`)
	s.must("ann", "POST", "/v1/groups/g/messages", `{"body":"`+at+`"}`)
	for range 3 {
		for _, a := range []answer{
			s.do(request{method: "GET", path: "/v1/groups/g/messages", user: "ann"}),
			s.do(request{method: "POST", path: "/v1/sync", body: `{}`, user: "ann"}),
			s.do(request{method: "GET", path: "/v1/server"}),
		} {
			if a.status != http.StatusOK || strings.Contains(a.body, `"previews"`) {
				t.Errorf("got %d %s", a.status, a.body)
			}
		}
	}
	s.close()
	keys, _ := store.Do("KEYS", "*previews*").([]any)
	if n := asked.Load(); n != 0 || len(keys) != 0 {
		t.Errorf("%d requests, keys %v", n, keys)
	}
}
