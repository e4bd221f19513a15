package archive

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	for after := int64(0); ; {
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

// testReactionsOf finds the reactions of a user that stand, page by page.
func testReactionsOf(t *testing.T, url string) {
	w := newLog(t, open(t, url), aLog)
	for range 5 {
		w.text("ann", "x")
	}
	for id := range int64(5) {
		w.react("ann", id+1, "+1", false)
		w.react("bob", id+1, "a b\"c", false)
	}
	w.react("ann", 2, "+1", true)
	w.add(1)
	var got []string
	for after := ""; ; {
		page, next, err := w.to.(*Store).ReactionsOf(t.Context(), "ann", after, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range page {
			got = append(got, fmt.Sprint(one.Group, " ", one.Epoch, " ", one.Target, " ", one.Emoji))
		}
		if after = next; next == "" {
			break
		}
	}
	var want []string
	for _, id := range []int64{1, 3, 4, 5} {
		want = append(want, fmt.Sprint(aLog.Group, " ", aLog.Epoch, " ", id, " +1"))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if list, _, err := w.to.(*Store).ReactionsOf(t.Context(), "bob", "", 9); err != nil || len(list) != 5 || list[0].Emoji != "a b\"c" {
		t.Errorf("got %+v, %v", list, err)
	}
	if _, _, err := w.to.(*Store).ReactionsOf(t.Context(), "bob", "nonsense", 9); err == nil {
		t.Error("a position that is none is taken")
	}
}

// testScrub: after a deletion and a rewriting of the files no byte of the text is in those that the engine names.
func testScrub(t *testing.T, url string) {
	s := open(t, url)
	w := newLog(t, s, aLog)
	w.text("ann", "xyzzysecret "+strings.Repeat("filler ", 50))
	w.text("ann", "plughkept")
	w.add(1)
	if s.engine.name() == "postgres" { // samples of the rows are in its statistics then
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
	if s.engine.name() == "postgres" {
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

// testEditsOf finds the edits of a user, page by page, whether their target is there or not, and behind many changes by others.
func testEditsOf(t *testing.T, url string) {
	s := open(t, url)
	s.editsMax = 2 // the changes of one message, so that every second page finds nothing
	w := newLog(t, s, aLog)
	for range 3 {
		w.text("ann", "x")
		w.text("bob", "y")
	}
	for id := range int64(6) {
		w.edit([]string{"ann", "bob"}[id%2], id+1, "edited")
		w.react("ann", id+1, "+1", false)
	}
	w.add(4)
	var got []string
	for after := ""; ; {
		page, next, err := s.EditsOf(t.Context(), "ann", after, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range page {
			got = append(got, fmt.Sprint(one.Group, " ", one.Epoch, " ", one.ID, " of ", one.Target))
		}
		if after = next; next == "" {
			break
		}
	}
	var want []string
	for _, id := range []int64{1, 3, 5} {
		want = append(want, fmt.Sprint(aLog.Group, " ", aLog.Epoch, " ", 5+2*id, " of ", id))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if _, _, err := s.EditsOf(t.Context(), "bob", "nonsense", 9); err == nil {
		t.Error("a position that is none is taken")
	}
}
