package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// exports is a server whose answers are cut off: each has its last line, unless it was cut, after the lines of its ids. A proxy
// in front of it drops trailers, and ends every other answer that was cut like a whole one.
func exports(t *testing.T, answer func(after string) (body string, complete bool)) *Client {
	t.Helper()
	var cuts atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, complete := answer(r.URL.Query().Get("after"))
		_, _ = fmt.Fprint(w, body)
		_ = http.NewResponseController(w).Flush()
		switch cut := cuts.Add(1); {
		case complete:
			_, _ = fmt.Fprintln(w, `{"end":"e.5.mark"}`)
		case cut%2 == 0:
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(server.Close)
	c, err := New(server.URL, StaticToken("t"), WithRetry(3, Backoff{Base: time.Millisecond, Max: time.Millisecond}))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestExportGoesOnWhereItWasCut: in the middle of a line, and more often than it is tried without progress.
func TestExportGoesOnWhereItWasCut(t *testing.T) {
	var asked, got []string
	c := exports(t, func(after string) (string, bool) {
		if asked = append(asked, after); len(asked) > 9 {
			return "", true
		}
		switch after {
		case "0", "1", "2", "3":
			return fmt.Sprintf("{\"id\":%c}\n{\"id\":", after[0]+1), false
		}
		return "{\"id\":5}\n", true
	})
	end, err := c.ExportGroup(t.Context(), "g", At(0), func(line []byte) error {
		got = append(got, string(line))
		return nil
	})
	if err != nil || end != "e.5.mark" || strings.Join(got, "") != `{"id":1}{"id":2}{"id":3}{"id":4}{"id":5}` || len(asked) != 5 {
		t.Errorf("got %s to %s, %v, after asking for %v", got, end, err, asked)
	}
}

// TestExportOfAServerThatBeginsAgain: what was taken is not given twice, and the export ends.
func TestExportOfAServerThatBeginsAgain(t *testing.T) {
	asked, got := 0, 0
	c := exports(t, func(string) (string, bool) { asked++; return "{\"id\":1}\n{\"id\":2}\n{\"id\":", asked > 20 })
	end, err := c.ExportGroup(t.Context(), "g", At(0), func([]byte) error { got++; return nil })
	if err == nil || !strings.Contains(err.Error(), "from entry 2 to 1") || errors.Is(err, ErrCutOff) || end != At(2) || asked != 2 || got != 2 {
		t.Errorf("got %d entries to %s, %v after %d requests", got, end, err, asked)
	}
	// A log that was recreated begins again, behind the cursor of its earlier life.
	c = exports(t, func(string) (string, bool) { return "{\"id\":1}\n", true })
	if end, err := c.ExportGroup(t.Context(), "g", "e.7.x", func([]byte) error { return nil }); err != nil || end != "e.5.mark" {
		t.Errorf("a new log: %s, %v", end, err)
	}
}

// TestExportOfAnEarlierVersion: a trailer alone says that it is complete.
func TestExportOfAnEarlierVersion(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", exportEnd)
		_, _ = fmt.Fprintln(w, `{"id":1}`)
		w.Header().Set(exportEnd, "e.1.mark")
	}))
	defer server.Close()
	c, err := New(server.URL, StaticToken("t"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if end, err := c.ExportGroup(t.Context(), "g", At(0), func([]byte) error { n++; return nil }); err != nil || n != 1 || end != "e.1.mark" {
		t.Errorf("got %d entries to %s, %v", n, end, err)
	}
}

func TestExportThatEnds(t *testing.T) {
	stop := errors.New("the disk is full")
	asked := 0
	c := exports(t, func(string) (string, bool) { asked++; return "{\"id\":1}\n{\"id\":2}\n{\"id\":", false })
	end, err := c.ExportGroup(t.Context(), "g", At(0), func(line []byte) error {
		if strings.Contains(string(line), "2") {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || end != At(1) || asked != 1 {
		t.Errorf("the caller has enough: %s, %v after %d requests", end, err, asked)
	}
	n := 0
	if err := c.ExportMe(t.Context(), func([]byte) error { n++; return nil }); !errors.Is(err, ErrCutOff) || n != 2 || asked != 2 {
		t.Errorf("one that cannot go on: %d lines, %v after %d requests", n, err, asked-1)
	}
	c = exports(t, func(string) (string, bool) { asked++; return "", false })
	asked = 0
	if end, err := c.ExportGroup(t.Context(), "g", "e.7.x", nil); !errors.Is(err, ErrCutOff) || end != "e.7.x" || asked != 3 {
		t.Errorf("without any progress: %s, %v after %d requests", end, err, asked)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c = exports(t, func(string) (string, bool) { return "{\"id\":1}\n", false })
	if _, err := c.ExportGroup(ctx, "g", At(0), func([]byte) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that gives up gets %v", err)
	}
}
