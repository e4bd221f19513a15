package archive

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
)

// testAuthored finds what a user wrote in several logs, page by page: not what was deleted, and nothing of others.
func testAuthored(t *testing.T, url string) {
	s := open(t, url)
	var want []archive.Authored
	for _, log := range []archive.Log{aLog, {Group: "other", Epoch: "e"}} {
		w := newLog(t, s, log)
		for i := range 10 {
			w.text([]string{"ann", "bob"}[i%2], fmt.Sprint("text ", i))
		}
		w.delete("ann", 3)
		w.edit("ann", 5, "edited")
		w.add(1)
		for _, id := range []int64{1, 5, 7, 9} {
			want = append(want, archive.Authored{Log: log, ID: id})
		}
	}
	var got []archive.Authored
	for after := int64(0); len(got) <= len(want); {
		page, err := s.Authored(t.Context(), "ann", after, 3)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, one := range page {
			if one.Doc <= after {
				t.Fatalf("doc %d comes after %d", one.Doc, after)
			}
			after, one.Doc = one.Doc, 0
			got = append(got, one)
		}
	}
	byLog := func(a, b archive.Authored) int {
		return strings.Compare(fmt.Sprintf("%s %03d", a.Group, a.ID), fmt.Sprintf("%s %03d", b.Group, b.ID))
	}
	slices.SortFunc(got, byLog)
	slices.SortFunc(want, byLog)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// testOthersOf finds what is named as of a user and is no message with content, page by page.
func testOthersOf(t *testing.T, url string) {
	s := open(t, url)
	w := newLog(t, s, aLog)
	for range 3 {
		w.text("ann", "x")
		w.text("bob", "y")
	}
	w.edit("ann", 1, "edited")
	w.react("ann", 2, "+1", false)
	w.react("bob", 2, "+1", false)
	w.react("ann", 2, "+1", true)
	w.delete("ann", 3)
	w.add(1)
	var got []string
	pages(t, func(after string) string {
		page, next, err := s.OthersOf(t.Context(), "ann", after, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range page {
			got = append(got, fmt.Sprint(one.Group, " ", one.Epoch, " ", one.ID))
		}
		return next
	})
	var want []string
	for _, id := range []int64{3, 7, 8, 10, 11} {
		want = append(want, fmt.Sprint(aLog.Group, " ", aLog.Epoch, " ", id))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if _, _, err := s.OthersOf(t.Context(), "bob", "nonsense", 9); err == nil {
		t.Error("a position that is none is taken")
	}
}

// testErasedAuthor: entries that an erasure names lose their author and what the author chose, whatever they are, in rows and counts.
func testErasedAuthor(t *testing.T, url string) {
	s := open(t, url)
	w := newLog(t, s, aLog)
	w.text("bob", "stays")
	w.text("xyzzy", "gone")
	secret := func(c chat.Content) { c.ClientID = "xyzzy"; w.entry("xyzzy", c) }
	secret(chat.Content{Kind: chat.Reaction, Target: 1, Emoji: ":xyzzy1:"}) // 3, stands
	secret(chat.Content{Kind: chat.Reaction, Target: 1, Emoji: ":xyzzy2:"}) // 4, taken back
	secret(chat.Content{Kind: chat.Reaction, Target: 1, Emoji: ":xyzzy2:", Removed: true})
	secret(chat.Content{Kind: chat.Delete, Target: 2})
	w.react("bob", 1, ":bob:", false)
	w.add(1)
	erasing(w, 1, ":xyzzy1:", 3)
	erasing(w, 0, "", 2, 4, 5, 6)
	w.add(8)
	counts, err := s.Reactions(t.Context(), aLog, "bob", 1, 1)
	if err != nil || fmt.Sprint(counts) != "map[1:map[:bob::{1 true}]]" {
		t.Errorf("the counts are %v, %v", counts, err)
	}
	for _, m := range w.all() {
		var e chat.Entry
		if err := json.Unmarshal(m.JSON, &e); err != nil {
			t.Fatal(err)
		}
		if e.From == "xyzzy" || e.ClientID != "" || e.Emoji == ":xyzzy1:" && !e.Removed {
			t.Errorf("%s", m.JSON)
		}
		if deleted := e.DeletedAt != nil; deleted != (m.ID >= 2 && m.ID <= 4) {
			t.Errorf("%s", m.JSON)
		}
	}
	if list, _, err := s.OthersOf(t.Context(), "xyzzy", "", 9); err != nil || len(list) > 0 {
		t.Errorf("the archive has %v of xyzzy, %v", list, err)
	}
	var left int
	if err := s.read.QueryRow(`SELECT count(*) FROM reactions WHERE author = 'xyzzy'`).Scan(&left); err != nil || left > 0 {
		t.Errorf("%d reactions of xyzzy are left, %v", left, err)
	}
}

// erasing is the next entry of an erasure: it takes back a reaction to target, or nothing, and the author off entries.
func erasing(w *logWriter, target int64, emoji string, ids ...int64) {
	c := chat.Content{Kind: chat.Reaction, Target: target, Emoji: emoji, Removed: true}
	if target == 0 {
		c = chat.Content{Kind: chat.Delete, Target: ids[0]}
	}
	m := w.entry("", c)
	w.list[m.ID-1].JSON = chat.Encode(chat.Entry{ID: m.ID, Group: w.log.Group, Content: c, Erased: ids, SentAt: chat.TimeMs(firstSentMs + m.ID*1000)})
}

// testScrub: after a deletion and a rewriting of the files no byte of the text is in those that the engine names.
func testScrub(t *testing.T, url string) {
	s := open(t, url)
	w := newLog(t, s, aLog)
	w.text("ann", "xyzzysecret "+strings.Repeat("filler ", 50))
	w.text("ann", "plughkept")
	w.add(1)
	if s.engine.name == "postgres" { // samples of the rows are in its statistics then
		if _, err := s.write.Exec(`ANALYZE`); err != nil {
			t.Fatal(err)
		}
	}
	w.delete("ann", 1)
	w.add(3)
	done, left, err := s.Scrub(t.Context())
	if err != nil || len(done) == 0 || len(left) > 0 {
		t.Fatalf("done %q, left %q, %v", done, left, err)
	}
	dir := filepath.Dir(strings.TrimPrefix(url, "sqlite:"))
	if s.engine.name == "postgres" {
		if err := s.read.QueryRow(`SELECT current_setting('data_directory')`).Scan(&dir); err != nil {
			t.Fatal(err)
		}
	}
	if inFiles(t, dir, "xyzzysecret") || !inFiles(t, dir, "plughkept") {
		t.Errorf("in %s: what was deleted: %v, what was kept: %v", dir, inFiles(t, dir, "xyzzysecret"), inFiles(t, dir, "plughkept"))
	}
	if got := w.all(); len(got) != 3 {
		t.Errorf("%d entries are left", len(got))
	}
}
