package web_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/node"
)

// TestBacklogFull: overflow is a setting like the others; a group that blocks names those whom a send waits for, over HTTP and in
// the list for those who manage it.
func TestBacklogFull(t *testing.T) {
	s := start(t, nil)
	a := s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"],"backlog_max":3,"keep":0,"overflow":"block","backlog_bytes":5}`)
	if a.field("overflow") != "block" || a.field("backlog_bytes") != 5. {
		t.Errorf("created: %s", a.body)
	}
	for _, body := range []string{`{"overflow":""}`, `{"overflow":"wait"}`, `{"backlog_bytes":0}`, `{"backlog_bytes":1.5}`} {
		for _, r := range []request{{method: "PATCH", path: "/v1/groups/g", user: "alice", body: body}, {method: "POST", path: "/v1/groups", user: "alice", body: body}} {
			if a := s.do(r); a.status != http.StatusBadRequest {
				t.Errorf("%s %s: %s", r.method, body, a.body)
			}
		}
	}
	s.must("alice", "POST", "/v1/groups/g/ack", `{"id":2}`) // from here on, what alice sends moves her own cursor
	send := request{method: "POST", path: "/v1/groups/g/messages", user: "alice", body: `{"body":"a"}`}
	s.must("alice", "POST", send.path, send.body) // 3
	full := s.do(send)
	checkProblem(t, "blocked", full, http.StatusTooManyRequests, "backlog_full")
	blockers, _ := full.field("blockers").([]any)
	if len(blockers) != 1 || full.header.Get("Retry-After") == "" {
		t.Fatalf("blocked: %v %s", full.header, full.body)
	}
	if b := blockers[0].(map[string]any); b["user"] != "bob" || b["behind"] != 3. || b["bytes"] != 0. || b["since"] != nil {
		t.Errorf("got %v", b)
	}
	list, _ := s.must("alice", "GET", "/v1/groups/g/blockers", "").field("blockers").([]any)
	if len(list) != 1 || list[0].(map[string]any)["user"] != "bob" || list[0].(map[string]any)["since"] == nil {
		t.Errorf("got %v", list)
	}
	s.must("bob", "POST", "/v1/groups/g/ack", `{"id":1}`)
	s.must("alice", "POST", send.path, send.body) // 4
	s.must("alice", "PATCH", "/v1/groups/g", `{"overflow":"drop","backlog_bytes":7}`)
	s.must("alice", "POST", send.path, send.body)
	notices := s.messages("alice", "/v1/groups/g/messages?after=4")
	if settings, _ := notices[0]["settings"].(map[string]any); settings["overflow"] != "drop" || settings["backlog_bytes"] != 7. {
		t.Errorf("notice: %v", notices[0])
	}
}

// TestWaysOutOfAStuckMember: an operator, who is no member, finds the member that everyone waits for, and each of the ways out that
// are documented lets the next send through.
func TestWaysOutOfAStuckMember(t *testing.T) {
	s := start(t, nil)
	for i, way := range []request{
		{method: "PATCH", body: `{"backlog_max":30}`}, {method: "PATCH", body: `{"overflow":"drop"}`}, {method: "DELETE", path: "/members/bob"},
	} {
		group := fmt.Sprint("/v1/groups/g", i)
		s.must("alice", "POST", "/v1/groups", fmt.Sprintf(`{"id":"g%d","members":["bob"],"backlog_max":20,"keep":100,"overflow":"block"}`, i))
		send := request{method: "POST", path: group + "/messages", user: "alice", body: `{"body":"a"}`}
		full := s.do(send)
		for full.status == http.StatusCreated {
			full = s.do(send)
		}
		checkProblem(t, "blocked", full, http.StatusTooManyRequests, "backlog_full")
		list, _ := s.operate("GET", group+"/blockers", "", nil).field("blockers").([]any)
		if users := usersOf(list); users != "alice bob" {
			t.Errorf("an operator sees %q", users)
		}
		list, _ = s.must("alice", "GET", group+"/blockers", "").field("blockers").([]any)
		refused, _ := full.field("blockers").([]any)
		if users := usersOf(list); users != "bob" || users != usersOf(refused) {
			t.Errorf("the owner sees %q, and the refusal names %q", users, usersOf(refused))
		}
		if a := s.operate(way.method, group+way.path, way.body, nil); a.status >= 300 {
			t.Errorf("%s %s: %d %s", way.method, way.body, a.status, a.body)
		}
		if a := s.do(send); a.status != http.StatusCreated {
			t.Errorf("after %s %s: %d %s", way.method, way.body, a.status, a.body)
		}
	}
}

// usersOf are the users of a list of blockers.
func usersOf(blockers []any) string {
	var users []string
	for _, b := range blockers {
		if b, ok := b.(map[string]any); ok {
			users = append(users, fmt.Sprint(b["user"]))
		}
	}
	return strings.Join(users, " ")
}

// TestBacklogOfFiles: bytes of files that a member has not seen refuse sends and uploads, until that member acks; then the files go.
func TestBacklogOfFiles(t *testing.T) {
	folder := t.TempDir()
	s := start(t, func(c *node.Config) { c.Files, c.Archive = "dir:"+folder, "off" })
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"],"keep":0,"overflow":"block","backlog_bytes":100}`)
	ids := make([]string, 2)
	for i := range ids {
		path := s.upload("n", "", strings.Repeat("x", 60))
		ids[i] = path[strings.LastIndexByte(path, '/')+1:]
	}
	first := s.must("alice", "POST", "/v1/groups/g/messages", `{"files":["`+ids[0]+`"]}`).field("id").(float64)
	send := request{method: "POST", path: "/v1/groups/g/messages", user: "alice", body: `{"files":["` + ids[1] + `"],"client_id":"k"}`}
	create := request{method: "POST", path: filesOfG, user: "alice", body: `{"name":"n","size":41}`, header: map[string]string{"Idempotency-Key": "k"}}
	for _, r := range []request{send, create, send, create} {
		a := s.do(r)
		checkProblem(t, r.path, a, http.StatusTooManyRequests, "backlog_full")
		blockers, _ := a.field("blockers").([]any)
		if len(blockers) != 1 || a.header.Get("Retry-After") == "" {
			t.Fatalf("%s: %v %s", r.path, a.header, a.body)
		}
		if b := blockers[0].(map[string]any); b["user"] != "bob" || b["bytes"] != 60. {
			t.Errorf("%s: got %v", r.path, b)
		}
	}
	s.must("alice", "POST", filesOfG, `{"name":"n","size":40}`) // fits
	if list, _ := s.must("alice", "GET", "/v1/groups/g/blockers", "").field("blockers").([]any); list[0].(map[string]any)["bytes"] != 60. {
		t.Errorf("got %v", list)
	}
	for _, user := range []string{"alice", "bob"} {
		s.must(user, "POST", "/v1/groups/g/ack", fmt.Sprintf(`{"id":%v}`, first))
	}
	for deadline := time.Now().Add(30 * time.Second); len(blobsIn(t, folder, ids[0])) > 0; { // a task removes it
		if time.Now().After(deadline) {
			t.Fatal("the file of a message that all have seen is still there")
		}
	}
	for _, r := range []request{create, send} {
		if a := s.do(r); a.status != http.StatusCreated {
			t.Errorf("%s after the ack: %d %s", r.path, a.status, a.body)
		}
	}
}

// blobsIn are the files of a folder whose names hold a word.
func blobsIn(t *testing.T, folder, word string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if strings.Contains(filepath.Base(path), word) {
			found = append(found, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
