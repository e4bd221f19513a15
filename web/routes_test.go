package web_test

import (
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// described is a route of the description.
type described struct {
	id, method, template string
	open                 bool // no token is needed
	scope                string
	query                []string
}

func routes(t *testing.T) []described {
	t.Helper()
	raw, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		t.Fatal(err)
	}
	var out []described
	for _, template := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		item := doc.Paths.Value(template)
		operations := item.Operations()
		for _, method := range slices.Sorted(maps.Keys(operations)) { // what reads comes before what puts
			op := operations[method]
			d := described{id: op.OperationID, method: method, template: template}
			d.scope, _ = op.Extensions["x-scope"].(string)
			for _, p := range op.Parameters {
				if p.Value.In == openapi3.ParameterInQuery {
					d.query = append(d.query, p.Value.Name)
				}
			}
			if op.Security != nil {
				for _, requirement := range *op.Security {
					d.open = d.open || len(requirement) == 0
				}
				d.open = d.open || len(*op.Security) == 0
			}
			out = append(out, d)
		}
	}
	return out
}

// TestDescriptionIsValid checks openapi.yaml by the rules of OpenAPI, its examples included.
func TestDescriptionIsValid(t *testing.T) {
	raw, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	seen := map[string]bool{}
	for _, r := range routes(t) {
		if r.id == "" || seen[r.id] {
			t.Errorf("%s %s: operationId %q is missing or taken", r.method, r.template, r.id)
		}
		seen[r.id] = true
	}
}

// TestMethods asks each path for methods it does not have.
func TestMethods(t *testing.T) {
	s := start(t, nil)
	has := map[string]map[string]bool{}
	for _, r := range routes(t) {
		if r.template == "/v1/dev/token" {
			continue // not there with a secret of one's own
		}
		if has[r.template] == nil {
			has[r.template] = map[string]bool{}
		}
		has[r.template][r.method] = true
	}
	for template, methods := range has {
		if template == "/v1/groups/public" || template == "/v1/tasks/queues" || template == "/v1/tasks/periodic" || template == "/v1/tasks/bulk" || template == "/v1/tasks/limits" || template == "/v1/tasks/days" || template == "/v1/invites/check" || template == "/v1/invites/accept" {
			continue // other methods mean the group, the task, or the invitation of that name, which there never is
		}
		path := fill(template, "g", "bob")
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"} {
			if methods[method] {
				continue
			}
			a := s.do(request{method: method, path: path, user: "alice"})
			checkProblem(t, method+" "+path, a, http.StatusMethodNotAllowed, "invalid_request")
			allowed := strings.Split(a.header.Get("Allow"), ", ")
			for known := range methods {
				if !slices.Contains(allowed, known) {
					t.Errorf("%s %s: Allow names %v, and not %s", method, path, allowed, known)
				}
			}
			if slices.Contains(allowed, "HEAD") != methods["GET"] {
				t.Errorf("%s %s: GET is there: %v; Allow names %v", method, path, methods["GET"], allowed)
			}
		}
	}
	for _, path := range []string{"/v1", "/v1/", "/nope", "/v1/nope", "/v1/groups/g/nope", "/v1/groups/g/messages/1", "/v1/dev/token", "/debug/pprof/", "/%2e%2e/etc/passwd", "/../etc/passwd"} {
		checkProblem(t, path, s.do(request{method: "GET", path: path, user: "alice"}), http.StatusNotFound, "not_found")
	}
}
