package archive

import (
	"slices"
	"testing"
	"time"

	"github.com/chatd/chatd/chat/archive"
)

// testRare: where a word is rare, the index is asked for it alone, and the search finds what it finds otherwise.
func testRare(t *testing.T, url string) {
	s := open(t, url)
	var visible []archive.Visible
	for _, group := range []string{"a", "b", "hidden"} {
		w := newLog(t, s, archive.Log{Group: group, Epoch: "e"})
		for n := range 200 {
			text := "frequent also"
			if n%40 == 10 {
				text += " seldom"
			}
			if n%80 == 50 {
				text = "seldom alone"
			}
			w.text([]string{"ann", "bob"}[n%2], text)
		}
		w.delete("ann", 11)
		w.add(1)
		if group != "hidden" {
			visible = append(visible, archive.Visible{Log: w.log, From: 5, To: 180})
		}
	}
	var among rare
	switch e := s.engine.driver.(type) {
	case *sqlite:
		among = e.rare
	case *postgres:
		among = e.rare
		e.shares.read, e.shares.of = time.Now().Add(time.Hour), map[string]float64{"frequent": 0.9, "also": 0.9}
	}
	for text, want := range map[string]int{"frequent seldom": 1, "frequent also seldom": 2, "frequent also": 0, "frequent": 0, "frequent -seldom": 0,
		`"frequent also" seldom`: 0, "freq* seldom": 0} {
		q := asking(t, s, text, nil, 20)
		asked, checked, err := q.split(t.Context(), among)
		if err != nil || len(checked.Terms) != want || len(asked.Terms)+want != len(q.wanted.Terms) {
			t.Errorf("%s: asks for %+v, checks %+v, %v", text, asked, checked, err)
		}
	}
	// More than facetsMax, so that no search of PostgreSQL walks, and none of SQLite asks log_search.
	visible = append(visible, manyLogs(t, s, facetsMax)...)
	for text, want := range map[string][]string{
		"frequent seldom":       {"b171", "a171", "b91", "a91"},
		"also seldom frequent":  {"b171", "a171", "b91", "a91"},
		"frequent seldom -also": nil,
		"seldom alone":          {"b131", "a131", "b51", "a51"},
		"alone frequent":        nil,
	} {
		for _, limit := range []int{1, 3, 50} {
			got := findAll(t, s, archive.Query{Text: text, Visible: visible, Limit: limit})
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s, %d a page: %v, want %v", text, limit, got, want)
			}
		}
	}
}

// TestSQLiteRare: how frequent words are shows in how far back their newest entries go; a word with more entries than can be looked
// at is not rare.
func TestSQLiteRare(t *testing.T) {
	s := open(t, "sqlite:"+t.TempDir()+"/archive.db")
	w := newLog(t, s, aLog)
	const each = rarer + 44
	for n := range (spanOf + 3) * each {
		text := "frequent"
		if n%each == 0 {
			text += " sparse"
		}
		if n%2 == 0 {
			text += " even"
		}
		w.text("ann", text)
	}
	w.add(1)
	words := []string{"frequent", "sparse", "even"}
	for limit, want := range map[int][]bool{20: {false, true, true}, spanOf / rareTimes: {true, true, true}} {
		if got, err := s.engine.driver.(*sqlite).rare(t.Context(), words, asking(t, s, "", nil, limit)); !slices.Equal(got, want) || err != nil {
			t.Errorf("for %d: asks for %v, want %v, %v", limit, got, want, err)
		}
	}
}
