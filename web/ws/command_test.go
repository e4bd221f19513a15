package ws

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chatd/chatd/web/wire"
)

// FuzzDecodeCommand: no frame panics, and an accepted frame has exactly the fields of its op.
func FuzzDecodeCommand(f *testing.F) {
	for _, seed := range []string{
		`{"op":"hello","token":"t","after":{"general":42,"x":"9f2c.44.k3"}}`, `{"op":"send","ref":"1","group":"g","body":"hi","mentions":["bob"]}`,
		`{"op":"ack","group":"g","id":9223372036854775807}`, `{"op":"read","group":"g","id":1e999}`, `{"op":"inbox_ack","seq":3}`,
		`{"op":"typing","group":"g"}`, `{"op":"focus","group":"g"}`, `{"op":"focus","ref":"r","group":null}`, `{"op":"auth","token":"t"}`, `{"op":"send","data":{"a":{"a":[1,{"b":2}]}},"group":"g"}`,
		`{"op":"typing","op":"send"}`, `{"\u006fp":"typing","group":"g"}`, `[]`, ``, `null`, `{"op":null}`, "{\"op\":\"\xff\"}",
		`{"data":` + strings.Repeat(`{"a":`, 40) + `1` + strings.Repeat(`}`, 41),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		c, object, err := decodeCommand(frame)
		if !object && err == nil {
			t.Fatal("what is no object was taken")
		}
		if err != nil {
			return
		}
		if len(c.ref) > refBytesMax {
			t.Errorf("a ref of %d bytes was taken", len(c.ref))
		}
		switch args := c.args.(type) {
		case *helloArgs:
			_, _ = wire.Positions("after", args.After)
		case *sendArgs:
			var given map[string]json.RawMessage
			if err := json.Unmarshal(frame, &given); err != nil {
				t.Fatal(err)
			}
			for name, lost := range map[string]bool{"reply_to": args.ReplyTo == 0, "target": args.Target == 0, "client_id": args.ClientID == "", "kind": args.Kind == ""} {
				if _, ok := given[name]; ok && lost {
					t.Errorf("%s is taken as if it were not there: %s", name, frame)
				}
			}
		case *markArgs:
			if at, err := wire.Mark("id", args.ID, args.Cursor); err == nil && at.ID < 0 {
				t.Error("a negative id was taken")
			}
		case *inboxMarkArgs, *typingArgs, *focusArgs, *authArgs:
		default:
			t.Fatalf("op %q was taken without arguments", c.op)
		}
	})
}
