package archive

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/chatd/chatd/chat"
)

func testMigrations(t *testing.T, url string) {
	pending := func(steps []Migration) (n int) {
		for _, s := range steps {
			if !s.Applied {
				n++
			}
		}
		return n
	}
	before, err := MigrationStatus(t.Context(), url)
	if err != nil || len(before) == 0 || pending(before) != len(before) {
		t.Fatalf("an empty database: %v, %v", before, err)
	}
	after, err := MigrateUp(t.Context(), url)
	if err != nil || len(after) != len(before) || pending(after) != 0 {
		t.Fatalf("up: %v, %v", after, err)
	}
	for range before {
		if _, err := MigrateDown(t.Context(), url); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := MigrateDown(t.Context(), url); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("down once too often: %v", err)
	}
	s := open(t, url)
	newest := after[len(after)-1].Version
	refuses := func(why string) {
		t.Helper()
		for name, call := range map[string]func() error{
			"open": func() error { _, err := Open(t.Context(), url); return err },
			"up":   func() error { _, err := MigrateUp(t.Context(), url); return err },
			"down": func() error { _, err := MigrateDown(t.Context(), url); return err },
		} {
			if err := call(); err == nil || !strings.Contains(err.Error(), why) || errors.Is(err, chat.ErrUnavailable) {
				t.Errorf("%s: %v, want one that says %q", name, err, why)
			}
		}
	}
	run := func(query string, args ...any) {
		t.Helper()
		if _, err := s.write.ExecContext(t.Context(), s.engine.bind(query), args...); err != nil {
			t.Fatal(err)
		}
	}
	run(`INSERT INTO chatd_migrations (version_id, is_applied) VALUES (?, true)`, newest+1)
	refuses("a newer one")
	run(`DELETE FROM chatd_migrations WHERE version_id = 1`)
	run(`DELETE FROM chatd_migrations WHERE version_id > ?`, newest)
	if newest > 1 {
		refuses("by half")
	}
}

// testTogether: nodes that start at once all get the schema, and each step of it has run once. The second time the table of versions
// is there already: the node that makes it gets ahead of the others.
func testTogether(t *testing.T, url string) {
	for range startTogether(t, url) {
		if _, err := MigrateDown(t.Context(), url); err != nil {
			t.Fatal(err)
		}
	}
	startTogether(t, url)
}

func startTogether(t *testing.T, url string) []Migration {
	t.Helper()
	var nodes sync.WaitGroup
	for range 6 {
		nodes.Go(func() {
			if s, err := Open(t.Context(), url); err != nil {
				t.Error(err)
			} else if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	nodes.Wait()
	steps, err := MigrationStatus(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	rows, versions := 0, 0
	query := `SELECT count(*), count(DISTINCT version_id) FROM chatd_migrations WHERE version_id > 0`
	if err := s.read.QueryRowContext(t.Context(), query).Scan(&rows, &versions); err != nil || rows != len(steps) || versions != len(steps) {
		t.Errorf("%d steps of %d have run, %d times in all, %v", versions, len(steps), rows, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	return steps
}

// TestSQLiteStepOnce: of a step that two nodes found missing, the second run is taken back as a whole; where that was not so, its row
// is removed.
func TestSQLiteStepOnce(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + t.TempDir() + "/archive.db"
	s := open(t, url)
	const again = `INSERT INTO chatd_migrations (version_id, is_applied) VALUES (4, true)`
	if _, err := s.write.ExecContext(t.Context(), again); err == nil {
		t.Error("a step is noted twice")
	}
	for _, query := range []string{`DROP INDEX chatd_migrations_once`, again} {
		if _, err := s.write.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	startTogether(t, url)
	steps, err := MigrateDown(t.Context(), url)
	if newest := len(steps) - 1; err != nil || steps[newest].Applied || !steps[newest-1].Applied {
		t.Errorf("the newest step was not taken back: %v, %v", steps, err)
	}
}
