package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/chatd/chatd/internal/node"
)

// withArchive keeps the logs in SQLite.
func withArchive(t *testing.T) func(*node.Config) {
	t.Helper()
	url := "sqlite:" + filepath.Join(t.TempDir(), "archive.db")
	return func(c *node.Config) { c.Archive = url }
}

// page is an answer to a search.
type page struct {
	Hits []struct {
		Message struct {
			Group string
			ID    int64
			Body  string
		}
		Snippet struct {
			Text  string
			Marks [][2]int
		}
	}
	Next             *string
	IncompleteBefore *string `json:"incomplete_before"`
}

// search makes a search that has to succeed, until it has seen everything: a slow machine archives it over several searches.
// Parameters are pairs of a name and a value.
func (s *server) search(user, q string, parameters ...string) (p page) {
	s.t.Helper()
	values := url.Values{"q": {q}}
	for i := 0; i < len(parameters); i += 2 {
		values.Set(parameters[i], parameters[i+1])
	}
	for range 50 {
		p = page{}
		a := s.must(user, "GET", "/v1/search?"+values.Encode(), "")
		if err := json.Unmarshal([]byte(a.body), &p); err != nil {
			s.t.Fatal(err)
		}
		if p.IncompleteBefore == nil {
			return p
		}
	}
	s.t.Fatalf("%s: incomplete before %s", q, *p.IncompleteBefore)
	return p
}

func (p page) ids() (ids []int64) {
	for _, h := range p.Hits {
		ids = append(ids, h.Message.ID)
	}
	return ids
}

// marked is the snippet of a hit with its marks in brackets, counted in UTF-16 code units as a browser does.
func (p page) marked(n int) string {
	s := p.Hits[n].Snippet
	units := utf16.Encode([]rune(s.Text))
	out, at := "", 0
	for _, m := range s.Marks {
		out += string(utf16.Decode(units[at:m[0]])) + "[" + string(utf16.Decode(units[m[0]:m[1]])) + "]"
		at = m[1]
	}
	return out + string(utf16.Decode(units[at:]))
}

func (s *server) say(user, group, body string) (id int64, sentAt string) {
	s.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	a := s.must(user, "POST", "/v1/groups/"+group+"/messages", `{"body":`+string(text)+`}`)
	n, _ := a.field("id").(float64)
	sentAt, _ = a.field("sent_at").(string)
	return int64(n), sentAt
}

// TestSearchInManyLanguages sends a text and finds it by what people type, with the marks where they belong.
func TestSearchInManyLanguages(t *testing.T) {
	s := start(t, withArchive(t))
	s.must("alice", "POST", "/v1/groups", `{"id":"g"}`)
	for _, c := range []struct{ text, query, marked string }{
		{"今天天气很好", "天气", "今天[天气]很好"},
		{"東京タワーに行きました", "タワー", "東京[タワー]に行きました"},
		{"회의는 내일입니다", "내일", "회의는 [내일]입니다"},
		{"วันนี้อากาศดี", "อากาศ", "วันนี้[อากาศ]ดี"},
		{"ذهبت إلى المدرسة", "المدرسه", "ذهبت إلى [المدرسة]"},
		{"שָׁלוֹם עולם", "שלום", "[שָׁלוֹם] עולם"},
		{"Die Straßenbahnhaltestelle in Köln", "strassenbahn* koln", "Die [Straßenbahnhaltestelle] in [Köln]"},
		{"İstanbul'da IŞIK", "istanbul ışık", "[İstanbul]'da [IŞIK]"},
		{"Ещё один чай", "еще ЧАЙ", "[Ещё] один [чай]"},
		{"👩‍💻 ships 👍🏽 today", "👍", "👩‍💻 ships [👍🏽] today"},
		{"if (user_name != nil) { return }", `"user_name"`, "if ([user_name] != nil) { return }"},
		{"see https://example.com/docs?x=1", "example.com/docs", "see https://[example.com/docs]?x=1"},
		{"write to ann.b@example.org", "ann.b@example.org", "write to [ann.b@example.org]"},
		{"Ünïcödé été", "unicode ÉTÉ", "[Ünïcödé] [été]"},
	} {
		id, _ := s.say("alice", "g", c.text)
		if found := s.search("alice", c.query); len(found.Hits) != 1 || found.Hits[0].Message.ID != id {
			t.Errorf("%q finds %v, want %d", c.query, found.ids(), id)
		} else if got := found.marked(0); got != c.marked {
			t.Errorf("%q marks %q, want %q", c.query, got, c.marked)
		}
	}
}

// passed returns when the millisecond in which a message was sent is over: the order of messages of one millisecond does not say
// which of two groups had its own first.
func passed(t *testing.T, sentAt string) {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, sentAt)
	if err != nil {
		t.Fatal(err)
	}
	<-time.After(time.Until(at.Add(time.Millisecond)))
}

func TestSearchParameters(t *testing.T) {
	s := start(t, withArchive(t))
	s.must("alice", "POST", "/v1/groups", `{"id":"g","members":["bob"]}`) // 1, 2
	s.must("alice", "POST", "/v1/groups", `{"id":"h"}`)                   // 1
	_, first := s.say("alice", "g", "apple apple apple")                  // 3
	_, second := s.say("bob", "g", "an apple, and a long text about something else")
	a := s.must("bob", "POST", "/v1/groups/g/messages", `{"kind":"data","data":{"fruit":["apple",7]}}`) // 5
	third := fmt.Sprint(a.field("sent_at"))
	passed(t, third)
	s.say("alice", "h", "apple") // 2
	// sent are the messages of g from one time to another: several may be of one millisecond.
	sent := func(since, until string) (ids []int64) {
		for i, at := range []string{third, second, first} {
			if at >= since && at <= until {
				ids = append(ids, int64(5-i))
			}
		}
		return ids
	}
	for _, c := range []struct {
		parameters []string
		want       []int64
	}{
		{nil, []int64{2, 5, 4, 3}},
		{[]string{"group", "g"}, []int64{5, 4, 3}},
		{[]string{"from", "bob"}, []int64{5, 4}},
		{[]string{"kind", "data"}, []int64{5}},
		{[]string{"kind", "text", "group", "g"}, []int64{4, 3}},
		{[]string{"until", first, "group", "g"}, sent("", first)},
		{[]string{"since", third, "group", "g"}, sent(third, "9")},
		{[]string{"since", first, "until", second, "group", "g"}, sent(first, second)},
		{[]string{"since", "2100-01-01T00:00:00Z"}, nil},
		{[]string{"until", "1960-01-01T00:00:00+02:00"}, nil},
		{[]string{"group", "g", "sort", "best"}, []int64{3, 5, 4}},
		{[]string{"limit", "2", "sort", "newest", "cursor", ""}, []int64{2, 5}},
	} {
		if got := s.search("alice", "apple", c.parameters...).ids(); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.parameters, got, c.want)
		}
	}
	if got := s.search("alice", "apple 7").marked(0); got != "[apple]\n[7]" {
		t.Errorf("data: %q", got)
	}
	// Without spaces as those of a phrase, everything is text.
	for _, q := range []string{"g OR h", "apple) OR (1=1", "facets:apple", "apple'--", `apple" AND "x`, "NEAR(apple, 2)", "apple\x00x", "%apple%", "apple:*|!x"} {
		s.search("alice", q)
	}
}

// TestSearchPages pages through hits while messages arrive.
func TestSearchPages(t *testing.T) {
	s := start(t, withArchive(t))
	s.must("alice", "POST", "/v1/groups", `{"id":"g"}`)
	var want, got []int64
	for range 8 {
		id, _ := s.say("alice", "g", "apple")
		want = append([]int64{id}, want...)
	}
	for cursor := ""; ; {
		p := s.search("alice", "apple", "limit", "3", "cursor", cursor)
		got = append(got, p.ids()...)
		if p.Next == nil {
			break
		}
		cursor = *p.Next
		s.say("alice", "g", "another apple")
		if n := len(s.search("alice", "another").Hits); n == 0 {
			t.Error("what was sent just now is not found")
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// Answers are bounded in bytes, and pages of few hits reach the end all the same.
	long := "pear" + strings.Repeat(".", 15000)
	for range 90 {
		s.say("alice", "g", long)
	}
	s.search("alice", "pear", "limit", "1")
	n, pages := 0, 0
	for cursor := ""; ; pages++ {
		a := s.must("alice", "GET", "/v1/search?q=pear&limit=1000&cursor="+url.QueryEscape(cursor), "")
		if len(a.body) > 1<<20+20<<10 {
			t.Errorf("an answer of %d bytes", len(a.body))
		}
		var p page
		if err := json.Unmarshal([]byte(a.body), &p); err != nil {
			t.Fatal(err)
		}
		if n += len(p.Hits); p.Next == nil {
			break
		}
		cursor = *p.Next
	}
	if n != 90 || pages == 0 {
		t.Errorf("%d hits on %d pages", n, pages+1)
	}
}

func TestRefusedSearches(t *testing.T) {
	s := start(t, withArchive(t))
	s.must("alice", "POST", "/v1/groups", `{"id":"g"}`)
	for query, detail := range map[string]string{
		"":                               "q is required",
		"group=g":                        "q is required",
		"q=":                             "q: must not be empty",
		"q=-x":                           "q: name a word",
		"q=" + strings.Repeat("a", 1001): "q: at most 1000 characters",
		"q=" + strings.Repeat("a+", 33):  "q: at most 32 words",
		"q=a&group=a%2Fb":                "group: ",
		"q=a&from=a+b":                   "from: ",
		"q=a&since=yesterday":            "since: want a time like 2026-",
		"q=a&until=2026-11-20":           "until: want a time like 2026-",
		"q=a&kind=notice":                "kind: want one of text, data",
		"q=a&sort=oldest":                "sort: want one of newest, best",
		"q=a&limit=0":                    "limit: want an integer from 1",
		"q=a&cursor=nonsense!":           "cursor: not one that a search gave",
		"q=a&q=b":                        "query parameter q appears twice",
		"q=a&words=b":                    `unknown query parameter "words"`,
		"q=a&since=2026-11-20T10:00:01Z&until=2026-11-20T10:00:00Z": "until: must not be before since",
	} {
		a := s.do(request{method: "GET", path: "/v1/search?" + query, user: "alice"})
		checkProblem(t, query, a, http.StatusBadRequest, "invalid_request")
		if got := fmt.Sprint(a.field("detail")); !strings.HasPrefix(got, detail) {
			t.Errorf("%s: %q, want %q", query, got, detail)
		}
	}
	checkProblem(t, "a group of others", s.do(request{method: "GET", path: "/v1/search?q=a&group=g", user: "bob"}), http.StatusNotFound, "not_found")

	off := start(t, func(c *node.Config) { c.Archive = "off" })
	a := off.do(request{method: "GET", path: "/v1/search?q=a", user: "alice"})
	checkProblem(t, "without an archive", a, http.StatusNotFound, "not_found")
	if got := fmt.Sprint(a.field("detail")); !strings.Contains(got, "CHATD_ARCHIVE is off") {
		t.Errorf("without an archive: %q", got)
	}
}
