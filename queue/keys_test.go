package queue

import (
	"reflect"
	"strings"
	"testing"
)

// TestKeysAreInTheTable: each method that builds a key builds one that is listed.
func TestKeysAreInTheTable(t *testing.T) {
	listed := map[string]bool{}
	for _, row := range KeyTable() {
		listed[row.Name] = true
	}
	keys := NewKeys("chat", 3, "core")
	built := keys.Work()
	for p := range priorities {
		built = append(built, keys.Ready(Priority(p)))
	}
	for i := range reflect.TypeOf(keys).NumMethod() {
		if build, ok := reflect.ValueOf(keys).Method(i).Interface().(func() string); ok {
			built = append(built, build())
		}
	}
	for _, key := range built {
		if rest, ok := strings.CutPrefix(key, "chat:{p03}:q:core:"); !ok || !listed[rest] {
			t.Errorf("%s is not in the table", key)
		}
	}
	if len(built) < 30 {
		t.Errorf("only %d keys were built", len(built))
	}
}
