package ship

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// someLines are n lines of which each fills a part of the smallest size.
func someLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%0*d\n", segmentMin-1, i)
	}
	return b.String()
}

// appended appends to a file.
func appended(t *testing.T, path, text string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

// posted calls do each time an entry was stored in the group, with how many there were, before the shipper learns it. With an error,
// it does not learn it.
func posted(do func(n int) error) client.Option {
	n := 0
	return client.WithHTTPClient(&http.Client{Transport: answered(func(r *http.Request) error {
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/messages") {
			return nil
		}
		n++
		return do(n)
	})})
}

// TestPartIsSavedBeforeItIsUploaded: a shipper that dies after a part was stored, and before it learns that, makes the same part of
// the same bytes again, although the file has grown.
func TestPartIsSavedBeforeItIsUploaded(t *testing.T) {
	w := startProcessing(t, nil, "p1")
	path := filepath.Join(t.TempDir(), "log")
	write(t, path, "one\ntwo\n")
	opts := Options{Group: "g", Paths: []string{path}, State: path + ".ship"}
	ctx, stop := context.WithCancel(w.Context())
	dies := posted(func(int) error {
		stop()
		return context.Canceled
	})
	if err := Files(ctx, w.as("shipper", dies), opts); !errors.Is(err, context.Canceled) {
		t.Fatalf("it was not stopped: %v", err)
	}
	appended(t, path, "three\n")
	if err := Files(w.Context(), w.as("shipper"), opts); err != nil {
		t.Fatal(err)
	}
	if err := w.process(ProcessOptions{}); err != nil { // which compares the end mark
		t.Fatal(err)
	}
	w.want("one\ntwo\nthree\n")
}

// TestFileThatHasGrownIsNotDeleted: what was written after the end mark comes with the next shipment, and the file goes then.
func TestFileThatHasGrownIsNotDeleted(t *testing.T) {
	w := startProcessing(t, nil, "p1")
	path := filepath.Join(t.TempDir(), "log")
	write(t, path, "one\n")
	opts := Options{Group: "g", Paths: []string{path}, State: path + ".ship", Delete: true}
	c := w.as("shipper", posted(func(n int) error {
		if n == 2 { // the end mark
			appended(t, path, "two\n")
		}
		return nil
	}))
	if err := Files(w.Context(), c, opts); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal("a line was deleted that nobody has")
	}
	if err := Files(w.Context(), w.as("shipper"), opts); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.process(ProcessOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	w.want("one\ntwo\n")
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the shipped file is still there: %v", err)
	}
}

// TestDigestOfAFileThatShrinks: bytes that were read and not shipped, because the file was truncated meanwhile, are not in the digest
// of the shipment.
func TestDigestOfAFileThatShrinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	write(t, path, "one\ntwo\n")
	var mu sync.Mutex
	k, err := newCutter(Options{Paths: []string{path}, Segment: segmentMin}, &mu, newState(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.close()
	s, err := k.begin(path)
	if err != nil {
		t.Fatal(err)
	}
	if seg, err := k.compress(s, 100); err != nil || seg != nil { // as if it had been longer a moment ago
		t.Fatalf("got %v, %v of bytes that are not there", seg, err)
	}
	seg, err := k.compress(s, 8)
	if err != nil || seg == nil {
		t.Fatalf("got %v, %v", seg, err)
	}
	digest, err := digestOf(seg.digest)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%x", digest.Sum(nil)); got != sum("one\ntwo\n") {
		t.Error("the digest of the shipment has bytes that were not shipped")
	}
}

// smallBacklog is a group in which the parts and the results of a shipment do not fit.
func smallBacklog(d *client.GroupDraft) {
	backlog := int64(50)
	d.BacklogMax = &backlog
}

// TestEndOfARunLeavesNothing: where shipper and processors run at the same time, all results arrive, though the group does not hold
// as many, everyone ends, and nothing is left in the group. Where the shipper does not stay, no results are posted, and the
// processors may run one after the other.
func TestEndOfARunLeavesNothing(t *testing.T) {
	const parts = 32
	t.Run("at the same time", func(t *testing.T) {
		t.Parallel()
		w := startProcessing(t, smallBacklog, "p1", "p2")
		path := filepath.Join(t.TempDir(), "log")
		write(t, path, someLines(parts))
		// p2 is at its last part until p1 has come to the end, and stays or returns or has results that do not fit any longer; or until
		// the end mark does not fit.
		var running sync.WaitGroup
		var once sync.Once
		ended, full := make(chan struct{}), make(chan struct{})
		p1Ended := func() { once.Do(func() { close(ended) }) }
		var atEnd atomic.Bool
		p1 := w.as("p1", client.WithHTTPClient(&http.Client{Transport: answered(func(r *http.Request) error {
			if strings.HasSuffix(r.URL.Path, "/receipts") || atEnd.Load() && strings.HasSuffix(r.URL.Path, "/messages") {
				p1Ended()
			}
			return nil
		})}))
		for user, c := range map[string]*client.Client{"p1": p1, "p2": w.as("p2")} {
			running.Go(func() {
				opts := ProcessOptions{Group: "g", State: path + user, End: func(context.Context, End) error {
					if user == "p1" {
						atEnd.Store(true)
					}
					return nil
				}}
				err := Process(w.Context(), c, opts, func(_ context.Context, p Part) (string, error) {
					if user == "p2" && p.Number == parts {
						select {
						case <-ended:
						case <-full:
						}
					}
					return "done", nil
				})
				if user == "p1" {
					p1Ended()
				}
				if err != nil {
					t.Errorf("%s: %v", user, err)
				}
			})
		}
		results := 0
		err := Files(w.Context(), w.as("shipper"), Options{Group: "g", Paths: []string{path}, Segment: segmentMin, State: path + ".ship", Wait: true,
			Result: func(Result) { results++ }, Progress: func(p Progress) {
				if client.CodeOf(p.Waiting) == client.CodeBacklogFull {
					select {
					case full <- struct{}{}:
					default:
					}
				}
			}})
		if err != nil {
			t.Error(err)
		}
		running.Wait()
		if results != 2*parts {
			t.Errorf("got %d results, want %d", results, 2*parts)
		}
		w.empty()
	})
	t.Run("one after the other", func(t *testing.T) {
		t.Parallel()
		w := startProcessing(t, smallBacklog, "p1", "p2")
		path := filepath.Join(t.TempDir(), "log")
		write(t, path, someLines(parts))
		if err := Files(w.Context(), w.as("shipper"), Options{Group: "g", Paths: []string{path}, Segment: segmentMin, State: path + ".ship"}); err != nil {
			t.Fatal(err)
		}
		for _, user := range []string{"p1", "p2"} {
			if err := w.processWith(w.Context(), w.as(user), ProcessOptions{State: path + user}); err != nil {
				t.Errorf("%s: %v", user, err)
			}
			w.want(someLines(parts))
		}
		w.empty()
	})
}

// TestResultsOfWhom: a result counts if it is about a part of the shipper, and where the processors are named, if it is by one.
func TestResultsOfWhom(t *testing.T) {
	w := startProcessing(t, nil, "p1", "mallory")
	results := func(from ...string) (got []string) {
		s := &shipper{client: w.as("shipper"), log: groupLog{client: w.as("shipper"), group: "g"}, trust: trust{named: from},
			opts:  Options{From: from, Result: func(r Result) { got = append(got, r.From+" "+r.Text) }},
			state: &shipState{Ship: "S", Was: "R", Parts: 2}}
		s.trust.notice = func(text string) { w.notices = append(w.notices, text) }
		if _, err := s.log.open(t.Context()); err != nil {
			t.Fatal(err)
		}
		part := w.part("shipper", "S", 1, "one\n")
		for _, r := range []resultData{{"S", 1, "done"}, {"R", 7, "late"}, {"X", 1, "of another"}, {"S", 9, "of none"}, {"S", 0, "of nothing"}, {"", 1, "without"}} {
			for _, user := range []string{"p1", "mallory"} {
				data, err := json.Marshal(shipped{Result: &r})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := w.as(user).Send(t.Context(), "g", client.Draft{Kind: client.KindData, Data: data, ReplyTo: part}); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.send("p1", shipped{Result: &resultData{"S", 1, "that answers nothing"}})
		if err := s.drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := fmt.Sprint(results()); got != "[p1 done mallory done p1 late mallory late]" {
		t.Errorf("got %s", got)
	}
	if got := fmt.Sprint(results("p1")); got != "[p1 done p1 late]" {
		t.Errorf("with named processors: got %s", got)
	}
	if w.said("skipped the result", "mallory, who is not one of those") != 1 || w.said("skipped the result", "no part of this shipment") != 3 {
		t.Errorf("got notices %q", w.notices)
	}
}

// TestProcessSaysWhomItWaitsFor: results of a shipper who takes them, and has gone, wait for members who do not read; Process says who
// they are and what to do.
func TestProcessSaysWhomItWaitsFor(t *testing.T) {
	w := startProcessing(t, func(d *client.GroupDraft) {
		backlog := int64(5)
		d.BacklogMax = &backlog
	}, "p1", "p2")
	w.part("shipper", "S", 1, "one\n")
	w.part("shipper", "S", 2, "two\n")
	w.end("shipper", "S", 2, "one\ntwo\n")
	ctx, stop := context.WithCancel(w.Context())
	defer stop()
	ended := make(chan error, 1)
	notified := make(chan string, 100)
	go func() {
		ended <- Process(ctx, w.as("p1"), ProcessOptions{Group: "g", Notice: func(text string) { notified <- text }},
			func(context.Context, Part) (string, error) { return "done", nil })
	}()
	select {
	case text := <-notified:
		for _, word := range []string{"2 results wait", "p2 (5 messages behind)", "backlog_max", "remove them"} {
			if !strings.Contains(text, word) {
				t.Errorf("%q does not say %q", text, word)
			}
		}
	case err := <-ended:
		t.Fatalf("it ended with results that are not posted: %v", err)
	}
	// One of the things that it says to do.
	more := int64(60)
	if _, err := w.as("shipper").UpdateGroup(ctx, "g", client.GroupChange{BacklogMax: &more}); err != nil {
		t.Fatal(err)
	}
	if err := harness.Receive(t, patience, "Process ends", ended); err != nil {
		t.Error(err)
	}
}

// TestShipNeedsRoom: a group that would have the members wait for each other is refused, with the setting and what it has to be.
func TestShipNeedsRoom(t *testing.T) {
	group := client.Group{ID: "g", Members: 3, Overflow: "block", BacklogMax: 5}
	for _, c := range []struct {
		opts Options
		max  int64
		want string
	}{
		{Options{Wait: true}, 5, "need 6 at least"}, {Options{Follow: true}, 5, "need 6 at least"}, {Options{Wait: true}, 6, ""},
		{Options{}, 2, ""}, {Options{}, 1, "need 2 at least"},
	} {
		group.BacklogMax = c.max
		err := c.opts.fit(group)
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "backlog_max")) {
			t.Errorf("%+v with backlog_max %d: got %v, want %q", c.opts, c.max, err, c.want)
		}
	}
	group.Overflow = "drop"
	if err := (&Options{}).fit(group); err == nil || !strings.Contains(err.Error(), "block") {
		t.Errorf("got %v of a group that passes members by", err)
	}

	w := startProcessing(t, func(d *client.GroupDraft) { d.BacklogMax = new(int64(5)) }, "p1", "p2")
	path := filepath.Join(t.TempDir(), "log")
	write(t, path, someLines(1))
	last := func() int64 {
		g, err := w.as("shipper").Group(w.Context(), "g")
		if err != nil {
			t.Fatal(err)
		}
		return g.Last
	}
	before := last()
	err := Files(w.Context(), w.as("shipper"), Options{Group: "g", Paths: []string{path}, State: path + ".ship", Wait: true})
	if err == nil || !strings.Contains(err.Error(), "need 6 at least") || last() != before {
		t.Errorf("shipping to a group without room: got %v, and %d entries more", err, last()-before)
	}
}

// TestWaitingIsSaidAgain: what is waited for is said every ten seconds, and anew once that was over.
func TestWaitingIsSaidAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []time.Duration
		begin := time.Now()
		w := waiting{notice: func(string) { said = append(said, time.Since(begin).Round(time.Second)) }}
		wait := func(seconds int) {
			for range 10 * seconds {
				w.still("for p2")
				<-time.After(100 * time.Millisecond)
			}
		}
		wait(30)
		w.over()
		wait(5)
		if want := []time.Duration{3 * time.Second, 13 * time.Second, 23 * time.Second, 33 * time.Second}; !slices.Equal(said, want) {
			t.Errorf("said after %v, want %v", said, want)
		}
	})
}
