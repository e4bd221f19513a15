package ws_test

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

var described = sync.OnceValues(func() (*openapi3.T, error) { return openapi3.NewLoader().LoadFromFile("../openapi.yaml") })

// checkDescribed compares a frame with a schema of the description. What clients get is checked in every test here.
func checkDescribed(t testing.TB, schema string, frame []byte) {
	t.Helper()
	doc, err := described()
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(frame, &value); err != nil {
		t.Fatal(err)
	}
	if err := doc.Components.Schemas[schema].Value.VisitJSON(value); err != nil {
		t.Errorf("%s\nis not as described by %s: %v", frame, schema, err)
	}
	for field := range value.(map[string]any) {
		if !describes(doc.Components.Schemas[schema].Value, value, field) {
			t.Errorf("%s: %s does not describe %s", frame, schema, field)
		}
	}
}

// describes reports whether the schema that fits a value has the field.
func describes(schema *openapi3.Schema, value any, field string) bool {
	if schema.Properties[field] != nil {
		return true
	}
	for _, part := range schema.AllOf {
		if describes(part.Value, value, field) {
			return true
		}
	}
	for _, one := range schema.OneOf {
		if one.Value.VisitJSON(value) == nil && describes(one.Value, value, field) {
			return true
		}
	}
	return false
}

// What a client may send is described, and nothing else.
func TestClientFramesAreDescribed(t *testing.T) {
	for _, frame := range []string{
		`{"op":"hello"}`, `{"op":"hello","ref":"1","token":"t","after":{"g":42,"h":"9f2c.44.k3"},"inbox_after":7}`,
		`{"op":"send","group":"g","body":"x","client_id":"c","ref":"r","reply_to":1,"mentions":["bob"],"data":{"a":1}}`,
		`{"op":"send","group":"g","kind":"reaction","target":1,"emoji":"👍","removed":true}`,
		`{"op":"ack","group":"g","id":1}`, `{"op":"read","group":"g","cursor":"c"}`, `{"op":"inbox_ack","seq":1}`,
		`{"op":"typing","group":"g"}`, `{"op":"focus","group":"g"}`, `{"op":"focus","ref":"r","group":null}`, `{"op":"auth","token":"t"}`,
	} {
		checkDescribed(t, "ClientFrame", []byte(frame))
	}
	doc, err := described()
	if err != nil {
		t.Fatal(err)
	}
	for _, frame := range []string{`{}`, `{"op":"nope"}`, `{"op":"ack"}`, `{"op":"typing","group":"g","body":"x"}`, `{"op":"auth"}`} {
		var value any
		if err := json.Unmarshal([]byte(frame), &value); err != nil {
			t.Fatal(err)
		}
		if doc.Components.Schemas["ClientFrame"].Value.VisitJSON(value) == nil {
			t.Errorf("%s is described", frame)
		}
	}
}
