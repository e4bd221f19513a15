package conformance

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"
)

func asObject(v any) Object {
	o, _ := v.(Object)
	return o
}

func decode(part string, v any) error {
	text, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// expand writes out batches of messages wherever they are in a value: of each, from, and what the messages say, are enough.
func expand(value any) any {
	switch v := value.(type) {
	case []any:
		all := make([]any, len(v))
		for i, one := range v {
			all[i] = expand(one)
		}
		return all
	case Object:
		full := Object{}
		for k, one := range v {
			full[k] = expand(one)
		}
		if messages, ok := v["messages"].([]any); ok {
			batch(full, messages)
		}
		return full
	}
	return value
}

func batch(b Object, messages []any) {
	for k, v := range (Object{"epoch": "e1", "complete": true, "first": 1.0, "has_more": false}) {
		if _, ok := b[k]; !ok {
			b[k] = v
		}
	}
	from, _ := b["from"].(float64)
	to := from + float64(len(messages)) - 1
	b["to"] = to
	if _, ok := b["cursor"]; !ok {
		b["cursor"] = fmt.Sprintf("%v-%v", b["epoch"], to)
	}
	if _, ok := b["last"]; !ok {
		b["last"] = to
	}
	all := make([]any, len(messages))
	for i, m := range messages {
		id := from + float64(i)
		full := Object{
			"group": b["group"], "id": id, "from": "bob", "kind": "text",
			"sent_at": time.UnixMilli(clockStart).UTC().Add(time.Duration(id) * time.Second).Format(time.RFC3339),
		}
		if text, ok := m.(string); ok {
			m = Object{"body": text}
		}
		for k, v := range m.(Object) {
			full[k] = v
		}
		all[i] = full
	}
	b["messages"] = all
}
