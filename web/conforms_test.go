package web_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// describedPath is a path of the description, as a pattern for those that are asked for. Those that match fewer paths
// come first: /v1/groups/public before /v1/groups/{group}.
type describedPath struct {
	params  int
	pattern *regexp.Regexp
	item    *openapi3.PathItem
}

var description = sync.OnceValues(func() (*openapi3.T, error) { return openapi3.NewLoader().LoadFromFile("openapi.yaml") })

func describedSchema(t *testing.T, name string) *openapi3.Schema {
	t.Helper()
	doc, err := description()
	if err != nil || doc.Components.Schemas[name] == nil {
		t.Fatalf("there is no schema %q: %v", name, err)
	}
	return doc.Components.Schemas[name].Value
}

var describedPaths = sync.OnceValues(func() ([]describedPath, error) {
	doc, err := description()
	if err != nil {
		return nil, err
	}
	var paths []describedPath
	for template, item := range doc.Paths.Map() {
		pattern := regexp.MustCompile(`\\\{[^/]*\\\}`).ReplaceAllString(regexp.QuoteMeta(template), `[^/]+`)
		paths = append(paths, describedPath{strings.Count(template, "{"), regexp.MustCompile("^" + pattern + "$"), item})
	}
	slices.SortFunc(paths, func(a, b describedPath) int { return a.params - b.params })
	return paths, nil
})

// checkConforms compares an answer with the description: every test that makes a call checks it. What the description
// does not know (pages, wrong paths and methods) passes.
func checkConforms(t *testing.T, r request, a answer) {
	t.Helper()
	paths, err := describedPaths()
	if err != nil {
		t.Fatal(err)
	}
	path, _, _ := strings.Cut(r.path, "?")
	for _, p := range paths {
		op := p.item.GetOperation(r.method)
		if op == nil || !p.pattern.MatchString(path) {
			continue
		}
		response := op.Responses.Status(a.status)
		if response == nil {
			response = op.Responses.Default()
		}
		if response == nil {
			t.Errorf("%s %s: the description knows no answer %d", r.method, path, a.status)
			return
		}
		if wrong := wrongAnswer(response.Value, a); wrong != "" {
			t.Errorf("%s %s: %d %s\nis not as described: %s", r.method, path, a.status, a.body, wrong)
		}
		return
	}
}

func wrongAnswer(response *openapi3.Response, a answer) string {
	kind, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
	if len(response.Content) == 0 {
		if a.body != "" {
			return "no body is described"
		}
		return ""
	}
	if response.Content["*/*"] != nil {
		return ""
	}
	media := response.Content[kind]
	if media == nil {
		return fmt.Sprintf("content type %q", kind)
	}
	if kind == "application/x-ndjson" {
		for line := range strings.Lines(a.body) {
			if !json.Valid([]byte(line)) {
				return "a line that is no JSON: " + line
			}
		}
		return ""
	}
	if !strings.HasSuffix(kind, "json") {
		return ""
	}
	return wrongValue(media.Schema.Value, a.body)
}

// wrongValue says what of a JSON value is not as a schema says; "": nothing.
func wrongValue(schema *openapi3.Schema, text string) string {
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return err.Error()
	}
	if err := schema.VisitJSON(value, openapi3.VisitAsResponse()); err != nil {
		return err.Error()
	}
	return strings.Join(undescribed(schema, value, ""), ", ")
}

// undescribed names the fields in value that the schema does not know.
func undescribed(schema *openapi3.Schema, value any, at string) (names []string) {
	switch v := value.(type) {
	case []any:
		if schema.Items != nil {
			for i, one := range v {
				names = append(names, undescribed(schema.Items.Value, one, fmt.Sprintf("%s[%d]", at, i))...)
			}
		}
	case map[string]any:
		known := map[string]*openapi3.Schema{}
		fieldsOf(schema, value, known)
		rest := schema.AdditionalProperties.Schema
		if len(known) == 0 && rest == nil {
			return nil // any object
		}
		for name, one := range v {
			field := known[name]
			if field == nil && rest != nil {
				field = rest.Value
			}
			if field == nil {
				names = append(names, at+"."+name)
				continue
			}
			names = append(names, undescribed(field, one, at+"."+name)...)
		}
	}
	return names
}

func fieldsOf(schema *openapi3.Schema, value any, into map[string]*openapi3.Schema) {
	for name, s := range schema.Properties {
		into[name] = s.Value
	}
	for _, s := range schema.AllOf {
		fieldsOf(s.Value, value, into)
	}
	for _, s := range schema.OneOf {
		if s.Value.VisitJSON(value) == nil {
			fieldsOf(s.Value, value, into)
		}
	}
}

// TestAnswersAreAsDescribed makes the calls whose answers have the most shapes; do compares each with the description.
func TestAnswersAreAsDescribed(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","name":"G","members":["bob"],"visibility":"public"}`)
	s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"hi","data":{"x":[1]},"client_id":"c","reply_to":1,"mentions":["bob"]}`) // 3
	s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"hi","data":{"x":[1]},"client_id":"c","reply_to":1,"mentions":["bob"]}`)
	s.must("bob", "POST", "/v1/groups/g/messages?durability=disk", `{"kind":"data","data":0}`) // 4
	for _, body := range []string{
		`{"kind":"reaction","target":3,"emoji":"👍"}`, `{"kind":"reaction","target":3,"emoji":"👍"}`, `{"kind":"reaction","target":4,"emoji":"👍"}`,
		`{"kind":"reaction","target":4,"emoji":"👍","removed":true}`,
	} {
		s.must("bob", "POST", "/v1/groups/g/messages", body)
	}
	s.must("alice", "POST", "/v1/groups/g/messages", `{"kind":"edit","target":3,"body":"ho"}`)
	s.must("bob", "POST", "/v1/groups/g/messages", `{"kind":"delete","target":4}`)
	s.must("alice", "PATCH", "/v1/groups/g", `{"name":"H","keep":3}`)
	s.must("alice", "PUT", "/v1/groups/g/members/bob", `{"role":"admin"}`)
	s.must("alice", "POST", "/v1/groups", `{"id":"empty","keep":0}`)
	s.must("alice", "POST", "/v1/users/bob/messages", `{"body":"d","data":1,"client_id":"c"}`)
	for _, path := range []string{
		"/v1/groups", "/v1/groups?limit=1", "/v1/groups/public", "/v1/groups/g", "/v1/groups/g/members?limit=1", "/v1/groups/g/messages?after=0",
		"/v1/groups/g/messages?before=5", "/v1/groups/g/messages/3/receipts", "/v1/groups/g/blockers", "/v1/unread", "/v1/inbox", "/livez", "/readyz", "/metrics",
	} {
		s.must("bob", "GET", path, "")
	}
	s.must("bob", "POST", "/v1/sync", `{"ack":{"g":99,"absent":1},"after":{"absent2":5},"inbox_ack":99,"wait_s":1}`)
	s.must("bob", "POST", "/v1/sync", `{"after":{"g":"nolog.3.x"}}`)
	s.must("bob", "POST", "/v1/groups/g/read", `{"id":3}`)
	s.must("bob", "POST", "/v1/groups/g/unread", `{"id":3}`)
	s.must("bob", "POST", "/v1/inbox/ack", `{"seq":1}`)
	s.must("bob", "DELETE", "/v1/groups/g/members/bob", "")
}
