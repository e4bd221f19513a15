package store

import (
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
		s, err := connected(Options{URL: raw})
		if err != nil {
			if strings.Contains(err.Error(), "canary-4711") {
				t.Errorf("the error tells the URL: %v", err)
			}
			return
		}
		if err := s.disconnect(); err != nil {
			t.Errorf("%q: %v", raw, err)
		}
	})
}

// FuzzReply: whatever a server answers in place of a script is an error or a value, never a panic.
func FuzzReply(f *testing.F) {
	f.Add("OK\n1\n2", uint64(0))
	f.Add("OK\nepoch\nname\nprivate\nann\n17\n100\n10000\nmembers\n1\n5\n3\nmark\n3\n3\n2\nowner\n1\n1\n3\n3\n0\n0", uint64(1<<13))
	f.Add("NOTFOUND", uint64(0))
	f.Add("", uint64(1))
	f.Add("OK\n-9223372036854775809\nx", uint64(7))
	f.Fuzz(func(t *testing.T, text string, kinds uint64) {
		var array []any
		for i, part := range strings.Split(text, "\n") {
			switch kinds >> (2 * (i % 32)) & 3 {
			case 0:
				array = append(array, part)
			case 1:
				array = append(array, int64(len(part))-3)
			case 2:
				array = append(array, nil)
			default:
				array = append(array, []any{part})
			}
		}
		r, err := asReply("fuzz", array)
		if err != nil {
			return
		}
		if in := asInfo("g", r); in.Epoch == "" && in.Role != "" {
			t.Errorf("a member of no group: %+v", in)
		}
	})
}
