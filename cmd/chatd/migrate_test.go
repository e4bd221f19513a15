package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The status of a database that is not there is told, and makes none.
func TestMigrateStatusMakesNothing(t *testing.T) {
	dir := t.TempDir()
	out, _, err := call(t, "migrate", "status", "-data", dir)
	if err != nil || !strings.Contains(out, dir+"/archive.db\npending") || strings.Contains(out, "applied") {
		t.Errorf("%q, %v", out, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it has made %v, %v", left, err)
	}
}

func TestAddressesShowNoPasswords(t *testing.T) {
	for address, want := range map[string]string{
		"postgres://chatd:secret@db/chatd":           "postgres://chatd:xxxxx@db/chatd",
		"postgres://db/chatd?user=a&password=secret": "postgres://db/chatd?password=xxxxx&user=a",
		"sqlite:/var/lib/chatd/archive.db":           "sqlite:/var/lib/chatd/archive.db",
		"sqlite:C:\\data\\archive.db":                "sqlite:C:\\data\\archive.db",
		"sqlite:chatd-data/archive.db":               "sqlite:chatd-data/archive.db",
	} {
		if got := redacted(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

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
		{[]string{"migrate", "up", "-data", filepath.Join(dir, "absent")}, "", "absent/archive.db"},
		{[]string{"migrate", "status", "-data", filepath.Join(dir, "absent")}, "database sqlite:" + dir + "/absent/archive.db\npending  00001_entries.sql", ""},
		{[]string{"migrate", "up", "-data", dir}, "database sqlite:" + dir + "/archive.db\napplied  00001_entries.sql", ""},
		{[]string{"migrate", "status", "-archive", url}, "database " + url + "\npending  00001_entries.sql", ""},
		{[]string{"migrate", "up", "-archive", url}, "database " + url + "\napplied  00001_entries.sql", ""},
		{[]string{"migrate", "up", "-archive", url}, "database " + url + "\napplied  00001_entries.sql", ""},
		{[]string{"migrate", "status", "-archive", url}, "database " + url + "\napplied  00001_entries.sql", ""},
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
	for range 99 { // more than there are
		if _, _, err := call(t, "migrate", "down", "-yes", "-archive", url); err != nil {
			if !strings.Contains(err.Error(), "empty") {
				t.Error(err)
			}
			return
		}
	}
	t.Error("migrations are taken back without an end")
}
