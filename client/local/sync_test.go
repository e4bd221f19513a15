package local

import (
	"encoding/json"
	"testing"

	"github.com/chatd/chatd/client"
)

// TestNoticesDescribeTheGroup: a group is kept right by its notices, without asking for it again.
func TestNoticesDescribeTheGroup(t *testing.T) {
	g := client.GroupState{Group: client.Group{Name: "old", Members: 2, Post: "members", Keep: 5}}
	for _, text := range []string{
		`{"kind":"notice","notice":"joined","user":"eve"}`,
		`{"kind":"notice","notice":"joined","users":["a","b","c"]}`,
		`{"kind":"notice","notice":"left","user":"eve"}`,
		`{"kind":"notice","notice":"removed","users":["a","b"]}`,
		`{"kind":"notice","notice":"renamed","name":"new"}`,
		`{"kind":"notice","notice":"settings","settings":{"post":"admins","keep":0}}`,
		`{"kind":"text","body":"joined"}`,
	} {
		var m client.Message
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		noticed(&g, m)
	}
	if g.Name != "new" || g.Members != 3 || g.Post != "admins" || g.Keep != 0 {
		t.Errorf("got %+v", g.Group)
	}
}
