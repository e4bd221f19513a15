package chat

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"
)

// fill gives every field of a value one that is not empty, also those that are added later.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Time]() {
			v.Set(reflect.ValueOf(TimeMs(1_700_000_000_000)))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`"canary"`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.String:
		v.SetString("canary")
	case reflect.Int64, reflect.Int:
		v.SetInt(7)
	case reflect.Bool:
		v.SetBool(true)
	default:
		panic("a field of kind " + v.Kind().String())
	}
}

// TestDeletionLeaves: whatever fields an entry has, a deletion leaves these; that of an erasure takes the author, too.
func TestDeletionLeaves(t *testing.T) {
	var e Entry
	fill(reflect.ValueOf(&e).Elem())
	for from, want := range map[string]string{"alice": "canary", "": ""} {
		left, err := Applied(Message{ID: 7, JSON: Encode(e)}, Entry{ID: 8, From: from, Content: Content{Kind: Delete, Target: 7}, SentAt: TimeMs(1)})
		if err != nil || left.Edits != nil {
			t.Fatal(left.Edits, err)
		}
		if string(left.JSON) != string(Encode(e)) {
			t.Errorf("what is deleted already reads %s", left.JSON)
		}
		was := e
		was.DeletedAt = nil
		left, err = Applied(Message{ID: 7, JSON: Encode(was)}, Entry{ID: 8, From: from, Content: Content{Kind: Delete, Target: 7}, SentAt: TimeMs(1)})
		var fields map[string]any
		if err == nil {
			err = json.Unmarshal(left.JSON, &fields)
		}
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Sorted(maps.Keys(fields))
		if names := []string{"deleted_at", "from", "group", "id", "kind", "reply_to", "sent_at", "target", "thread"}; !slices.Equal(got, names) || fields["from"] != want {
			t.Errorf("a deletion by %q leaves %s", from, left.JSON)
		}
	}
}
