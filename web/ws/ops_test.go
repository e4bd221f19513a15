package ws_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/ws"
)

func TestWSCommands(t *testing.T) {
	n := startWS(t, ws.SessionOptions{})
	n.group(t, "red", "ann", "bob")
	bob, w := n.hello(t, "bob", nil)
	if bob.Subprotocol() != ws.Subprotocol || w.Session == "" || w.PingS != 25 || w.Groups["red"].Last != 2 {
		t.Errorf("welcome: got %+v with the subprotocol %q", w, bob.Subprotocol())
	}
	ann, _ := n.hello(t, "ann", nil)

	ann.raw(`{"op":"send","ref":"s","group":"red","body":"hi","client_id":"c1"}`)
	first := ann.answer("s")
	if first.Op != "ok" || first.ID != 3 || first.SentAt == "" || first.Duplicate == nil || *first.Duplicate {
		t.Errorf("send: got %+v", first)
	}
	ann.raw(`{"op":"send","ref":"again","group":"red","body":"hi","client_id":"c1"}`)
	if f := ann.answer("again"); f.ID != 3 || f.Duplicate == nil || !*f.Duplicate {
		t.Errorf("send again: got %+v, want the first id as a duplicate", f)
	}
	ann.raw(`{"op":"send","ref":"other","group":"red","body":"ho","client_id":"c1"}`)
	if f := ann.answer("other"); f.Code != chat.CodeKeyReused {
		t.Errorf("the key with other content: got %+v, want %s", f, chat.CodeKeyReused)
	}
	ann.raw(`{"op":"send","ref":"blank","group":"red","body":"\u200b "}`)
	if f := ann.answer("blank"); f.Code != chat.CodeInvalid {
		t.Errorf("a body that nobody sees: got %+v", f)
	}
	got := int64(0)
	for got < 3 {
		f := bob.op("messages")
		if f.Group != "red" || f.From != got+1 || !f.Complete || f.Cursor == "" || f.Epoch == "" {
			t.Fatalf("messages: got %+v after %d", f, got)
		}
		got = f.To
	}
	bob.raw(`{"op":"typing","ref":"t","group":"red"}`)
	if f := bob.answer("t"); f.Op != "ok" {
		t.Errorf("typing: got %+v", f)
	}
	if f := ann.op("typing"); f.Group != "red" || f.User != "bob" {
		t.Errorf("typing: ann got %+v", f)
	}
	phone, _ := n.hello(t, "bob", nil)
	bob.raw(`{"op":"ack","ref":"a","group":"red","id":2}`)
	if f := bob.answer("a"); f.Op != "ok" || f.Seen != 2 {
		t.Errorf("ack: got %+v", f)
	}
	if f := phone.op("cursor"); f.Group != "red" || f.User != "bob" || f.Seen != 2 {
		t.Errorf("the other session of the user: got %+v", f)
	}
	if f := ann.op("cursor"); f.User != "bob" || f.Seen != 2 {
		t.Errorf("the other member: got %+v", f)
	}
	bob.raw(`{"op":"read","ref":"r","group":"red","id":3}`)
	if f := bob.answer("r"); f.Op != "ok" || f.Read != 3 {
		t.Errorf("read: got %+v", f)
	}
	if _, err := n.Unread(t.Context(), chat.Caller{User: "bob"}, "red", 3); err != nil {
		t.Fatal(err)
	}
	if f := bob.op("cursor"); f.Read != 2 || f.Seen != 3 {
		t.Errorf("the first cursor event of the session that acked: got %+v, want that of the move over HTTP", f)
	}
	body := "psst"
	if _, _, err := n.SendDirect(t.Context(), chat.Caller{User: "ann"}, "bob", chat.Direct{Body: &body}); err != nil {
		t.Fatal(err)
	}
	if f := bob.op("inbox"); len(f.Items) == 0 || f.From != f.To-int64(len(f.Items))+1 {
		t.Errorf("inbox: got %+v", f)
	} else {
		bob.put(map[string]any{"op": "inbox_ack", "ref": "i", "cursor": f.Cursor})
	}
	if f := bob.answer("i"); f.Op != "ok" || f.Acked == 0 {
		t.Errorf("inbox_ack: got %+v", f)
	}
	for name, frame := range map[string]string{
		"ack":       `{"op":"ack","ref":"x","group":"red","cursor":"other.1.abcdef"}`,
		"read":      `{"op":"read","ref":"x","group":"red","cursor":"other.1.abcdef"}`,
		"inbox_ack": `{"op":"inbox_ack","ref":"x","cursor":"other.1.abcdef"}`,
	} {
		bob.raw(frame)
		if f := bob.answer("x"); f.Op != "error" || f.Code != chat.CodeConflict {
			t.Errorf("%s by a cursor of another life: got %+v", name, f)
		}
	}
	bob.raw(`{"op":"auth","ref":"mine","token":"bob"}`)
	if f := bob.answer("mine"); f.Op != "ok" {
		t.Errorf("auth: got %+v", f)
	}
	bob.raw(`{"op":"auth","ref":"hers","token":"ann"}`)
	if f := bob.answer("hers"); f.Code != chat.CodeForbidden {
		t.Errorf("auth as someone else: got %+v", f)
	}
	if _, _, err := n.PutMember(t.Context(), chat.Caller{User: "ann"}, "red", "eve", ""); err != nil {
		t.Fatal(err)
	}
	if err := n.RemoveMember(t.Context(), chat.Caller{User: "ann"}, "red", "bob"); err != nil {
		t.Fatal(err)
	}
	if f := bob.op("left"); f.Group != "red" {
		t.Errorf("removed: got %+v", f)
	}
	bob.raw(`{"op":"send","ref":"out","group":"red","body":"hi"}`)
	if f := bob.answer("out"); f.Code != chat.CodeNotFound {
		t.Errorf("a send from outside: got %+v, want %s", f, chat.CodeNotFound)
	}
	n.group(t, "blue", "ann", "bob")
	if f := bob.op("joined"); f.Group != "blue" {
		t.Errorf("added: got %+v", f)
	}
}

func TestWSWrongCommands(t *testing.T) {
	n := startWS(t, ws.SessionOptions{})
	n.group(t, "red", "ann")
	c, _ := n.hello(t, "ann", nil)
	for name, frame := range map[string]string{
		"no op":              `{"ref":"x"}`,
		"unknown op":         `{"op":"shout","ref":"x"}`,
		"op of a wrong type": `{"op":7,"ref":"x"}`,
		"op in another case": `{"OP":"typing","ref":"x","group":"red"}`,
		"unknown field":      `{"op":"typing","ref":"x","group":"red","loud":true}`,
		"another op's field": `{"op":"typing","ref":"x","group":"red","id":1}`,
		"id as a string":     `{"op":"ack","ref":"x","group":"red","id":"1"}`,
		"id as a float":      `{"op":"ack","ref":"x","group":"red","id":1.5}`,
		"negative id":        `{"op":"ack","ref":"x","group":"red","id":-1}`,
		"no id":              `{"op":"ack","ref":"x","group":"red"}`,
		"no seq":             `{"op":"inbox_ack","ref":"x"}`,
		"a bad group":        `{"op":"typing","ref":"x","group":"a{b}"}`,
		"hello again":        `{"op":"hello","ref":"x","token":"ann"}`,
		"a sender":           `{"op":"send","ref":"x","group":"red","body":"hi","from":"bob"}`,
		"a notice":           `{"op":"send","ref":"x","group":"red","kind":"notice"}`,
		"nothing to send":    `{"op":"send","ref":"x","group":"red"}`,
		"no token":           `{"op":"auth","ref":"x"}`,
	} {
		c.raw(frame)
		if f := c.answer("x"); f.Op != "error" || f.Code != chat.CodeInvalid {
			t.Errorf("%s: got %+v, want %s", name, f, chat.CodeInvalid)
		}
	}
	for name, frame := range map[string]string{
		"a field twice": `{"op":"typing","group":"red","group":"red"}`,
		"too deep":      `{"op":"send","group":"red","data":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`,
		"a long ref":    `{"op":"typing","group":"red","ref":"` + strings.Repeat("x", 200) + `"}`,
	} {
		c.raw(frame)
		if f := c.op("error"); f.Code != chat.CodeInvalid {
			t.Errorf("%s: got %+v, want %s", name, f, chat.CodeInvalid)
		}
	}
	c.raw(`{"op":"ack","ref":"far","group":"red","id":99}`)
	if f := c.answer("far"); f.Code != chat.CodeOutOfRange {
		t.Errorf("an ack above last: got %+v, want %s", f, chat.CodeOutOfRange)
	}
}

// TestWSErrorsOfTheInsideStayThere lets commands fail with internal errors: the client gets the code and no details.
func TestWSErrorsOfTheInsideStayThere(t *testing.T) {
	n := startWS(t, ws.SessionOptions{})
	c, _ := n.hello(t, "ann", nil)
	for name, fails := range failures {
		c.put(map[string]string{"op": "auth", "ref": "x", "token": name})
		_ = c.SetReadDeadline(time.Now().Add(wsPatience))
		_, frame, err := c.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		var f wsFrame
		if err := json.Unmarshal(frame, &f); err != nil {
			t.Fatal(err)
		}
		want := chat.CodeOf(fails)
		if errors.Is(fails, context.DeadlineExceeded) {
			want = chat.CodeUnavailable
		}
		if f.Op != "error" || f.Ref != "x" || f.Code != want {
			t.Errorf("%s: got %s, want %s", name, frame, want)
		}
		if strings.Contains(string(frame), "redis") {
			t.Errorf("%s: the frame tells of the inside: %s", name, frame)
		}
	}
}
