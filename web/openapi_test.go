package web

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
)

type noSessions struct{ http.Handler }

func (noSessions) Count() int { return 0 }

// TestRoutesAreDescribed compares the router with the description, both ways. Pages are no part of the API.
func TestRoutesAreDescribed(t *testing.T) {
	issue := func(string) (string, time.Time, error) { return "", time.Time{}, nil }
	s := New(Services{}, nil, Options{
		Limits: chat.DefaultLimits(), ServeMetrics: true, Dev: &DevSignIn{Code: "c", Issue: issue}, Sessions: noSessions{}, Static: map[string][]byte{"index.html": nil},
	})
	pages := map[string]bool{"/": true, "/index.html": true, "/docs": true, "/docs.css": true, "/openapi.yaml": true}
	for _, view := range views["index.html"] {
		pages["/"+view] = true
	}
	served := map[string]bool{}
	for _, r := range s.echo.Routes() {
		key := r.Method + " " + r.Path
		served[key] = true
		if s.routes[key] == nil && !pages[r.Path] {
			t.Errorf("%s is served and not described: nothing checks its token and its parameters", key)
		}
		if strings.HasPrefix(r.Path, "/v1/") && pages[r.Path] {
			t.Errorf("%s is no page", r.Path)
		}
	}
	for key := range s.routes {
		if !served[key] {
			t.Errorf("%s is described and not served", key)
		}
	}
}
