package archive

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chatd/chatd/chat/archive"
)

// TestMoveEntries brings an archive of an earlier version forward, interrupted in the middle.
func TestMoveEntries(t *testing.T) {
	url := "sqlite:" + t.TempDir() + "/archive.db"
	s := open(t, url)
	var logs []*logWriter
	for _, group := range []string{"a", "b"} {
		w := newLog(t, s, archive.Log{Group: group, Epoch: "e"})
		for n := range 25 {
			w.text("ann", fmt.Sprint("word ", n))
		}
		w.edit("ann", 3, "other")
		w.delete("ann", 4)
		w.add(1)
		logs = append(logs, w)
	}
	want := [][]int64{ids(logs[0].all()), ids(logs[1].all())}
	count := func(db *sql.DB, table string) (n int) {
		t.Helper()
		if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM `+table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for range 5 {
		if _, err := MigrateDown(t.Context(), url); err != nil {
			t.Fatal(err)
		}
	}
	if n := count(s.write, "entries"); n != 54 {
		t.Fatalf("the earlier version has %d entries", n)
	}
	p, err := provider(s.engine, s.write)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	if more, err := moveEntries(t.Context(), s.write, 20); !more || err != nil {
		t.Fatal(more, err)
	}
	if old, moved := count(s.write, "entries_by_time"), count(s.write, "entries"); old != 34 || moved != 20 {
		t.Fatalf("after a step: %d to move, %d moved", old, moved)
	}
	s = open(t, url)
	for i, w := range logs {
		w.to = s
		if got := ids(w.all()); !cmp.Equal(got, want[i]) {
			t.Errorf("%s: %v, want %v", w.log.Group, got, want[i])
		}
		found, err := s.Search(t.Context(), archive.Query{Text: "word", Visible: whole(w.log), Limit: 50, BytesMax: pageBytes})
		if err != nil || len(found.Hits) != 23 {
			t.Errorf("%s: %d hits, %v", w.log.Group, len(found.Hits), err)
		}
	}
	if n := count(s.write, "sqlite_master WHERE name = 'entries_by_time'"); n != 0 {
		t.Error("the old table is still there")
	}
}
