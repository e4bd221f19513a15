package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMigrate(t *testing.T) {
	dir := t.TempDir()
	url := "sqlite:" + filepath.Join(t.TempDir(), "archive.db")
	for _, c := range []struct {
		args []string
		want string
		err  string
	}{
		{[]string{"migrate", "status", "-archive", "off", "-data", dir}, "layout   none: there is no store yet", ""},
		{[]string{"migrate", "status", "-redis", "redis://127.0.0.1:1"}, "", "does not answer"},
		{[]string{"migrate", "down", "-yes", "-archive", "off"}, "", "no archive is configured"},
		{[]string{"migrate", "status", "-data", filepath.Join(dir, "absent")}, "", "absent/archive.db"},
		{[]string{"migrate", "up", "-data", dir}, "applied  00001_entries.sql", ""},
		{[]string{"migrate", "status", "-archive", url}, "pending  00001_entries.sql", ""},
		{[]string{"migrate", "up", "-archive", url}, "applied  00001_entries.sql", ""},
		{[]string{"migrate", "up", "-archive", url}, "applied  00001_entries.sql", ""},
		{[]string{"migrate", "status", "-archive", url}, "applied  00001_entries.sql", ""},
		{[]string{"migrate", "down", "-archive", url}, "", "-yes"},
		{[]string{"migrate", "up", "-archive", "mysql:x"}, "", "want sqlite:PATH"},
	} {
		out, _, err := call(t, c.args...)
		if !strings.HasPrefix(out, c.want) || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%v: %q, %v", c.args, out, err)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "archive.db")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the archive beside the embedded store: %v, %v; want a file for its owner alone", info, err)
	}
	for range 9 { // one more than there are
		if _, _, err := call(t, "migrate", "down", "-yes", "-archive", url); err != nil {
			if !strings.Contains(err.Error(), "empty") {
				t.Error(err)
			}
			return
		}
	}
	t.Error("migrations are taken back without an end")
}
