package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestMigrate(t *testing.T) {
	url := "sqlite:" + filepath.Join(t.TempDir(), "archive.db")
	for _, c := range []struct {
		args []string
		want string
		err  string
	}{
		{[]string{"migrate", "status"}, "", "no archive is configured"},
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
