package conn

import (
	"log/slog"
	"strings"
	"testing"
)

// FuzzConnect: no URL panics, and none of it is told in the error: it may hold a password.
func FuzzConnect(f *testing.F) {
	for _, seed := range []string{
		"redis://user:canary@host:6379/1", "rediss://h?x=y", "redis-sentinel://u:canary@a:1,b:2/name/3?sentinel_password=canary&tls=true",
		"redis-sentinel://a/", "redis-sentinel:///x", "redis-cluster://a", "redis://[::1", "://", "", "redis-sentinel://%zz@a/n", "redis://:canary@h/x",
		"redis-sentinel://a@b@c/n/x", "redis://h/-1", "unix:///x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		raw = strings.Replace(raw, "://", "://canary-4711:", 1)
		d, err := Open(Options{URL: raw, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			if strings.Contains(err.Error(), "canary-4711") {
				t.Errorf("the error tells the URL: %v", err)
			}
			return
		}
		if err := d.Close(); err != nil {
			t.Errorf("%q: %v", raw, err)
		}
	})
}
