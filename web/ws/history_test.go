package ws_test

import (
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/ws"
)

// TestWSHidesEditsOfWhatIsHidden sends one live edit to two sessions that must not share a frame, because only one may
// see the edit.
func TestWSHidesEditsOfWhatIsHidden(t *testing.T) {
	n := startWS(t, ws.SessionOptions{})
	n.group(t, "g", "alice") // 1
	shown := false
	if _, err := n.UpdateGroup(t.Context(), chat.Caller{User: "alice"}, "g", chat.GroupChange{History: &shown}); err != nil { // 2
		t.Fatal(err)
	}
	secret := n.say(t, "g", "alice", "secret")                                                         // 3
	if _, _, err := n.PutMember(t.Context(), chat.Caller{User: "alice"}, "g", "bob", ""); err != nil { // 4
		t.Fatal(err)
	}
	alice, _ := n.hello(t, "alice", map[string]any{"g": 4})
	bob, _ := n.hello(t, "bob", map[string]any{"g": 4})
	edited := "secret two"
	for range 3 {
		if _, err := n.Send(t.Context(), chat.Caller{User: "alice"}, "g", chat.Content{Kind: chat.Edit, Target: secret, Body: &edited}, ""); err != nil {
			t.Fatal(err)
		}
		for c, want := range map[*wsClient]*string{alice: &edited, bob: nil} {
			m := c.op("messages").Messages
			if len(m) != 1 || m[0].Target != secret || (m[0].Body == nil) != (want == nil) || want != nil && *m[0].Body != *want {
				t.Errorf("got %+v, want the content for alice only", m)
			}
		}
	}
}
