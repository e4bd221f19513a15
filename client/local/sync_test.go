package local

import (
	"encoding/json"
	"testing"

	"github.com/chatd/chatd/client"
)

// TestNoticesDescribeTheGroup: a group is kept right by its notices, without asking for it again.
func TestNoticesDescribeTheGroup(t *testing.T) {
	g := client.GroupState{Group: client.Group{Name: "old", Members: 2, Post: "members", Keep: 5}}
	takes := func(text string) {
		var m client.Message
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		noticed(&g, m, "eve")
	}
	for _, text := range []string{
		`{"kind":"notice","notice":"joined","user":"eve"}`,
		`{"kind":"notice","notice":"joined","users":["a","b","c"]}`,
		`{"kind":"notice","notice":"left","user":"eve"}`,
		`{"kind":"notice","notice":"removed","users":["a","b"]}`,
		`{"kind":"notice","notice":"renamed","name":"new"}`,
		`{"kind":"notice","notice":"settings","settings":{"post":"admins","keep":0}}`,
		`{"kind":"notice","notice":"settings","settings":{"slow_s":30}}`,
		`{"kind":"notice","notice":"muted","user":"eve","muted_until":"2026-12-01T00:00:00.000Z"}`,
		`{"kind":"notice","notice":"muted","user":"zoe"}`,
		`{"kind":"text","body":"joined"}`,
	} {
		takes(text)
	}
	if g.Name != "new" || g.Members != 3 || g.Post != "admins" || g.Keep != 0 || g.SlowS != 30 || g.MutedUntil.Year() != 2026 {
		t.Errorf("got %+v", g.Group)
	}
	takes(`{"kind":"notice","notice":"muted","user":"eve"}`)
	if !g.MutedUntil.IsZero() {
		t.Errorf("muted until %s", g.MutedUntil)
	}
}
