package client

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"
	"time"
)

func TestPositionOnTheWire(t *testing.T) {
	for position, want := range map[Position]string{"42": "42", At(0): "0", "9f2c.44.k3": `"9f2c.44.k3"`, "007": "7", "": `""`} {
		got, err := json.Marshal(position)
		if err != nil || string(got) != want {
			t.Errorf("%q: got %s, %v, want %s", position, got, err, want)
		}
		if position == "007" || position == "" {
			continue
		}
		var back Position
		if err := json.Unmarshal(got, &back); err != nil || back != position {
			t.Errorf("%s: got %q, %v, want %q", got, back, err, position)
		}
	}
	var p Position
	if err := json.Unmarshal([]byte("[1]"), &p); err == nil {
		t.Errorf("got %q of a list, want an error", p)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	tests := map[string]time.Duration{
		"": 0, "3": 3 * time.Second, "-3": 0, "1e3": 0, "99999999999999": 0,
		now.Add(5 * time.Second).Format(http.TimeFormat): 5 * time.Second, now.Add(-time.Hour).Format(http.TimeFormat): 0,
	}
	for value, want := range tests {
		if got := retryAfter(value, now); got != want {
			t.Errorf("%q: got %v, want %v", value, got, want)
		}
	}
}

func TestCloseDelay(t *testing.T) {
	tests := map[string]time.Duration{
		"": 0, "restarting": 0, `{"retry_after_ms":250}`: 250 * time.Millisecond, "retry_after_ms=40": 40 * time.Millisecond,
		"retry_after_ms": 0,
	}
	for reason, want := range tests {
		if got := closeDelay(reason); got != want {
			t.Errorf("%q: got %v, want %v", reason, got, want)
		}
	}
}

func TestBackoffGrowsWithJitterAndStaysBounded(t *testing.T) {
	b := Backoff{Base: 100 * time.Millisecond, Max: time.Second}
	for attempt, limit := range map[int]time.Duration{0: 100 * time.Millisecond, 2: 400 * time.Millisecond, 5: time.Second, 1000: time.Second} {
		different := map[time.Duration]bool{}
		for range 200 {
			d := b.Delay(attempt, 0)
			if d < 0 || d >= limit {
				t.Fatalf("attempt %d: got %v, want below %v", attempt, d, limit)
			}
			different[d] = true
		}
		if len(different) < 100 {
			t.Errorf("attempt %d: %d different delays of 200: that is no jitter", attempt, len(different))
		}
	}
	if got := b.Delay(0, 3*time.Second); got < 3*time.Second {
		t.Errorf("got %v, want at least the 3 s that were asked for", got)
	}
}

func TestWhatIsTriedAgain(t *testing.T) {
	tests := []struct {
		err   error
		again bool // the call is safe to repeat
		want  bool
	}{
		{nil, true, false},
		{errors.New("connection reset"), true, true},
		{errors.New("connection reset"), false, false},
		{context.Canceled, true, false},
		{&Error{Status: 503, Code: CodeUnavailable}, false, true},
		{&Error{Status: 429, Code: CodeRateLimited, RetryAfter: time.Second}, false, true},
		{&Error{Status: 429, Code: CodeRateLimited, RetryAfter: time.Hour}, true, false},
		{&Error{Status: 429, Code: CodeInboxFull}, true, false},
		{&Error{Status: 429, Code: CodeBacklogFull, RetryAfter: time.Second}, true, false}, // it may last for hours: the caller decides
		{&Error{Status: 500, Code: CodeInternal}, true, true},
		{&Error{Status: 500, Code: CodeInternal}, false, false},
		{&Error{Status: 502}, true, true},
		{&Error{Status: 409, Code: CodeKeyReused}, true, false},
		{errToken, true, false},
	}
	for _, test := range tests {
		if _, got := retryable(test.err, test.again); got != test.want {
			t.Errorf("%v, safe %v: got %v, want %v", test.err, test.again, got, test.want)
		}
	}
}

func TestWhichSessionsComeBack(t *testing.T) {
	tests := []struct {
		err  error
		want again
	}{
		{errors.New("connection reset"), surely},
		{&Error{Status: 1012, Code: CodeUnavailable}, surely},
		{&Error{Status: 4409, Code: CodeRateLimited}, surely},
		{&Error{Status: 4401, Code: CodeUnauthenticated}, asks},
		{&Error{Status: 401}, asks},
		{&Error{Status: 4400, Code: CodeInvalid}, never},
		{&Error{Status: 4403, Code: CodeForbidden}, never},
		{&Error{Status: 404}, never},
		{&Error{Status: 502}, surely},
	}
	for _, test := range tests {
		if got, _ := verdict(test.err); got != test.want {
			t.Errorf("%v: got %v, want %v", test.err, got, test.want)
		}
	}
}

func TestPathsAreEscaped(t *testing.T) {
	c, err := New("http://host:1/base/", StaticToken("t"))
	if err != nil {
		t.Fatal(err)
	}
	got := c.url(call{path: []string{"groups", "../a b?c", "ack"}, query: url.Values{"after": {"9f.1.k"}}})
	if want := "http://host:1/base/v1/groups/..%2Fa%20b%3Fc/ack?after=9f.1.k"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, bad := range []string{"", "host:1", "ftp://host", "http://", "http://%"} {
		if _, err := New(bad, StaticToken("t")); err == nil {
			t.Errorf("%q: want an error", bad)
		}
	}
}

func TestTokenEnd(t *testing.T) {
	token := func(claims string) string { return "h." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".s" }
	if got, ok := tokenEnd(token(`{"exp":1800000000.5}`)); !ok || got.UnixMilli() != 1800000000500 {
		t.Errorf("got %v, %v", got, ok)
	}
	for _, bad := range []string{"", "a.b", "a.!.c", token(`{}`), token(`{"exp":-1}`), token(`{"exp":1e300}`), token(`x`)} {
		if got, ok := tokenEnd(bad); ok {
			t.Errorf("%q: got %v, want none", bad, got)
		}
	}
}

func TestCursorsKeepAndForget(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "positions")
	file, err := NewFileCursors(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, cursors := range map[string]Cursors{"memory": &MemoryCursors{}, "file": file} {
		for i := range 3 {
			change := map[string]Position{"g": At(int64(i)), "h": "e.1.m", "gone" + strconv.Itoa(i): "5"}
			if i > 0 {
				change["gone"+strconv.Itoa(i-1)] = ""
			}
			if err := cursors.Save(ctx, change); err != nil {
				t.Fatal(err)
			}
		}
		want := map[string]Position{"g": "2", "h": "e.1.m", "gone2": "5"}
		if got, err := cursors.Load(ctx); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, want)
		}
	}
	again, err := NewFileCursors(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := again.Load(ctx); len(got) != 3 || got["g"] != "2" {
		t.Errorf("read again: got %v", got)
	}
	if left, _ := filepath.Glob(path + ".*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := os.WriteFile(path, []byte(`{"g":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewFileCursors(path); err == nil {
		t.Error("a damaged file is no fresh start: want an error")
	}
}
