package web_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
)

// exported splits an export into its lines and what its last line says of the end.
func exported(t *testing.T, body string) (lines []string, end any) {
	t.Helper()
	lines = strings.SplitAfter(body, "\n")
	var last map[string]any
	if len(lines) < 2 || json.Unmarshal([]byte(lines[len(lines)-2]), &last) != nil || len(last) != 1 || lines[len(lines)-1] != "" {
		t.Fatalf("the last lines are %q", lines[max(0, len(lines)-2):])
	}
	return lines[:len(lines)-2], last["end"]
}

// TestExportGroup: the whole log a line each, over several pages, with the cursor of its end in the last line, which continues it.
func TestExportGroup(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"],"visibility":"public"}`)
	const last = 230
	for n := 3; n <= last; n++ {
		s.must("alice", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"body":"text %d"}`, n))
	}
	export := func(user, role, query string) (ids []int64, end string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/groups/g/export"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token(t, user, role))
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "application/x-ndjson" {
			t.Fatalf("%d %v %v", answer.StatusCode, answer.Header, err)
		}
		lines, cursor := exported(t, string(body))
		for _, line := range lines {
			var m struct{ ID int64 }
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			ids = append(ids, m.ID)
		}
		if end, _ = cursor.(string); end == "" || answer.Trailer.Get("Chatd-Export-End") != end {
			t.Errorf("the last line says %v, the trailer %v", cursor, answer.Trailer)
		}
		return ids, end
	}
	for _, c := range []struct {
		user, role, query string
		from              int64
	}{
		{"alice", "", "", 1}, {"op", "admin", "?format=ndjson", 1}, {"alice", "", "?after=100", 101}, {"alice", "", "?after=230", 231},
	} {
		ids, end := export(c.user, c.role, c.query)
		if int64(len(ids)) != last-c.from+1 || len(ids) > 0 && (ids[0] != c.from || ids[len(ids)-1] != last) {
			t.Errorf("%+v: got %d ids", c, len(ids))
		}
		if !strings.Contains(end, ".230") {
			t.Errorf("%+v: ends at %q", c, end)
		}
	}
	_, end := export("alice", "", "")
	s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"more"}`)
	if ids, _ := export("alice", "", "?after="+end); len(ids) != 1 || ids[0] != last+1 {
		t.Errorf("after the end: %v", ids)
	}
	path := "/v1/groups/g/export?after="
	checkProblem(t, "another log", s.do(request{method: "GET", path: path + "other.3.abcdef", user: "alice"}), http.StatusConflict, "conflict")
	checkProblem(t, "no position", s.do(request{method: "GET", path: path + "x", user: "alice"}), http.StatusBadRequest, "invalid_request")
	checkProblem(t, "a member", s.do(request{method: "GET", path: path + "0", user: "bob"}), http.StatusForbidden, "forbidden")
}

// TestExportMe: everything about a user and nothing about others, a line each.
func TestExportMe(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`)
	const mine = 130 // more than a page
	for n := range mine {
		s.must("alice", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"body":"a <%d>"}`, n))
		s.must("bob", "POST", "/v1/groups/g/messages", `{"body":"of bob"}`)
	}
	s.must("alice", "POST", "/v1/groups/g/messages", `{"kind":"reaction","target":5,"emoji":":+1:"}`)
	s.must("bob", "POST", "/v1/users/alice/messages", `{"body":"direct"}`)
	s.must("alice", "POST", "/v1/schedules", fmt.Sprintf(`{"group":"g","body":"later","at":%q}`, time.Now().Add(time.Hour).UTC().Format(time.RFC3339)))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/me/export", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token(t, "alice", ""))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK || answer.Trailer.Get("Chatd-Export-End") != "complete" {
		t.Fatalf("%d %v %v %v", answer.StatusCode, answer.Header, answer.Trailer, err)
	}
	lines, end := exported(t, string(body))
	if end != true {
		t.Errorf("the end is %v", end)
	}
	counts := map[string]int{}
	for _, line := range lines {
		var record map[string]struct{ ID, From, Body, Kind, Group string }
		loose := strings.ReplaceAll(line, `"id":`, `"number":`)
		if err := json.Unmarshal([]byte(loose), &record); err != nil || len(record) != 1 {
			t.Fatalf("%q: %v", line, err)
		}
		for kind, one := range record {
			counts[kind]++
			if kind == "message" && (one.From != "alice" || one.Kind == "text" && !strings.HasPrefix(one.Body, "a <")) {
				t.Errorf("got %s", line)
			}
		}
	}
	if want := map[string]int{"group": 1, "message": mine + 1, "item": 1, "schedule": 1, "last_seen": 1}; fmt.Sprint(counts) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", counts, want)
	}
}

// TestExportsWithTheGoClient: both exports over a real connection, the one of a group in two parts.
func TestExportsWithTheGoClient(t *testing.T) {
	s := start(t, nil)
	s.must("alice", "POST", "/v1/groups", `{"id":"g"}`)
	const last = 130 // more than a page
	for n := 2; n <= last; n++ {
		s.must("alice", "POST", "/v1/groups/g/messages", fmt.Sprintf(`{"body":"a <%d>"}`, n))
	}
	alice, err := client.New(s.url, client.StaticToken(token(t, "alice", "")))
	if err != nil {
		t.Fatal(err)
	}
	var got []client.Message
	note := func(line []byte) error {
		var m client.Message
		err := json.Unmarshal(line, &m)
		got = append(got, m)
		return err
	}
	end, err := alice.ExportGroup(t.Context(), "g", client.At(0), note)
	if err != nil || len(got) != last {
		t.Fatalf("got %d entries to %s, %v", len(got), end, err)
	}
	s.must("alice", "POST", "/v1/groups/g/messages", `{"body":"more"}`)
	if _, err := alice.ExportGroup(t.Context(), "g", end, note); err != nil {
		t.Error(err)
	}
	for i, m := range got {
		if m.ID != int64(i)+1 || m.Group != "g" || m.From != "alice" {
			t.Fatalf("entry %d is %+v", i+1, m)
		}
	}
	if n := len(got); n != last+1 || got[n-1].Body != "more" {
		t.Errorf("in the end there are %d entries, the last one %+v", n, got[n-1])
	}
	if _, err := alice.ExportGroup(t.Context(), "g", "other.3.abcdef", note); client.CodeOf(err) != client.CodeConflict {
		t.Errorf("of another log: %v", err)
	}
	n := 0
	if err := alice.ExportMe(t.Context(), func(line []byte) error {
		n++
		return json.Unmarshal(line, &map[string]any{})
	}); err != nil || n != 2+last { // the group, the texts, and when she was last seen
		t.Errorf("of alice: %d lines, %v", n, err)
	}
}
