package ship

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// processing is a group with a shipper and processors, in which tests post parts by hand.
type processing struct {
	*testing.T
	as  func(user string, opts ...client.Option) *client.Client
	ctx context.Context //nolint:containedctx // of the test

	mu      sync.Mutex
	notices []string
	got     strings.Builder // what p1 has processed
}

// startProcessing makes the group g of shipper, who owns it, and the members.
func startProcessing(t *testing.T, change func(*client.GroupDraft), members ...string) *processing {
	t.Helper()
	keep := int64(0)
	draft := client.GroupDraft{ID: "g", Members: members, Keep: &keep, Overflow: "block"}
	if change != nil {
		change(&draft)
	}
	w := &processing{T: t, as: startNode(t), ctx: patient(t)}
	if _, err := w.as("shipper").CreateGroup(w.Context(), draft); err != nil {
		t.Fatal(err)
	}
	return w
}

// patience is how long what a test waits for may take, on a quiet machine.
const patience = 20 * time.Second

// patient is a context of a test that ends in time for it to say what it waited for.
func patient(t *testing.T) context.Context {
	ctx, stop := context.WithTimeout(t.Context(), harness.Slack*patience)
	t.Cleanup(stop)
	return ctx
}

// Context shadows that of the test, which has no end.
func (w *processing) Context() context.Context { return w.ctx }

func (w *processing) send(from string, s shipped, files ...string) int64 {
	w.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		w.Fatal(err)
	}
	sent, err := w.as(from).Send(w.Context(), "g", client.Draft{Kind: client.KindData, Data: data, Files: files})
	if err != nil {
		w.Fatal(err)
	}
	return sent.ID
}

// part posts a part of one line.
func (w *processing) part(from, ship string, number int64, line string) int64 {
	w.Helper()
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		w.Fatal(err)
	}
	packed := encoder.EncodeAll([]byte(line), nil)
	id, err := w.as(from).UploadFile(w.Context(), "g", client.FileDraft{Name: "part", Size: int64(len(packed))}, bytes.NewReader(packed))
	if err != nil {
		w.Fatal(err)
	}
	return w.send(from, shipped{Part: &partData{Ship: ship, Number: number, Name: "log", Bytes: int64(len(line)), SHA256: sum(line)}}, id)
}

// end posts the end mark of what the parts have in all.
func (w *processing) end(from, ship string, parts int64, all string) int64 {
	w.Helper()
	return w.send(from, shipped{End: &endData{Ship: ship, Parts: parts, Bytes: int64(len(all)), SHA256: sum(all)}})
}

func sum(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// process runs p1.
func (w *processing) process(opts ProcessOptions) error {
	return w.processWith(w.Context(), w.as("p1"), opts)
}

func (w *processing) processWith(ctx context.Context, c *client.Client, opts ProcessOptions) error {
	opts.Group = "g"
	opts.Notice = func(text string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.notices = append(w.notices, text)
	}
	return Process(ctx, c, opts, func(_ context.Context, p Part) (string, error) {
		line, err := io.ReadAll(p.Lines)
		w.got.Write(line)
		return "done", err
	})
}

// said reports how many notices have all the words.
func (w *processing) said(words ...string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range w.notices {
		all := true
		for _, word := range words {
			all = all && strings.Contains(text, word)
		}
		if all {
			n++
		}
	}
	return n
}

func (w *processing) want(lines string) {
	w.Helper()
	if got := w.got.String(); got != lines {
		w.Errorf("processed %q, want %q", got, lines)
	}
	w.got.Reset()
}

// seen is how far a member has acked.
func (w *processing) seen(user string) int64 {
	w.Helper()
	members, _, err := w.as("shipper").Members(w.Context(), "g", client.Page{})
	if err != nil {
		w.Error(err)
	}
	for _, m := range members {
		if m.User == user {
			return m.Seen
		}
	}
	return -1
}

// empty checks that the group holds nothing.
func (w *processing) empty() {
	w.Helper()
	if g, err := w.as("shipper").Group(w.Context(), "g"); err != nil || g.First != g.Last+1 {
		w.Errorf("the idle group holds the messages %d to %d, %v", g.First, g.Last, err)
	}
}

// TestProcessBelievesWhoShips: what other members post is skipped, said once of each kind, and neither processed nor taken for the
// end. The owner and admins are believed, as the log has them at that point, or else those that are named.
func TestProcessBelievesWhoShips(t *testing.T) {
	w := startProcessing(t, nil, "p1", "mallory", "carl")
	w.end("mallory", "F", 0, "")
	w.part("mallory", "F", 1, "forged\n")
	w.part("shipper", "S", 1, "one\n")
	w.part("mallory", "S", 2, "forged\n")
	w.end("mallory", "S", 1, "one\n")
	w.part("shipper", "S", 2, "two\n")
	w.end("shipper", "S", 2, "one\ntwo\n")
	if err := w.process(ProcessOptions{}); err != nil {
		t.Fatal(err)
	}
	w.want("one\ntwo\n")
	if parts, ends := w.said("skipped the part", "mallory"), w.said("skipped the end mark", "mallory"); parts != 1 || ends != 1 {
		t.Errorf("skipped parts are mentioned %d times, end marks %d times:\n%s", parts, ends, w.notices)
	}

	// An admin is believed from then on, and no longer when that ends.
	role := func(role string) {
		t.Helper()
		if _, err := w.as("shipper").PutMember(w.Context(), "g", "carl", role); err != nil {
			t.Fatal(err)
		}
	}
	ended := make(chan error, 1)
	handled := make(chan string)
	go func() {
		ended <- Process(w.Context(), w.as("p1"), ProcessOptions{Group: "g"}, func(_ context.Context, p Part) (string, error) {
			line, err := io.ReadAll(p.Lines)
			handled <- string(line)
			return "", err
		})
	}()
	w.part("carl", "C", 1, "too early\n")
	w.part("shipper", "T", 1, "one\n")
	if got := harness.Receive(t, patience, "a part is handled", handled); got != "one\n" {
		t.Fatalf("processed %q", got)
	}
	role("admin")
	w.part("carl", "C", 1, "of an admin\n")
	if got := harness.Receive(t, patience, "a part is handled", handled); got != "of an admin\n" {
		t.Fatalf("processed %q", got)
	}
	role("member")
	w.end("carl", "C", 1, "of an admin\n")
	w.part("shipper", "T", 2, "two\n")
	if got := harness.Receive(t, patience, "a part is handled", handled); got != "two\n" {
		t.Fatalf("processed %q", got)
	}
	w.end("shipper", "T", 2, "one\ntwo\n")
	if err := harness.Receive(t, patience, "Process ends", ended); err != nil {
		t.Fatal(err)
	}

	w.part("shipper", "U", 1, "of the owner\n")
	w.part("carl", "D", 1, "of carl\n")
	w.end("shipper", "U", 1, "of the owner\n")
	w.end("carl", "D", 1, "of carl\n")
	if err := w.process(ProcessOptions{From: []string{"carl"}}); err != nil {
		t.Fatal(err)
	}
	w.want("of carl\n")
}

// TestPartsComeInOrder: a part that is missing, or another one under the same number, ends the run before it is processed; the last
// part once more is acked and not processed.
func TestPartsComeInOrder(t *testing.T) {
	w := startProcessing(t, nil, "p1")
	state := filepath.Join(t.TempDir(), "state")
	w.part("shipper", "S", 1, "one\n")
	w.part("shipper", "S", 1, "one\n")
	w.part("shipper", "S", 2, "two\n")
	w.part("shipper", "S", 4, "four\n")
	w.end("shipper", "S", 4, "one\ntwo\nfour\n")
	for range 2 {
		if err := w.process(ProcessOptions{State: state}); err == nil || !strings.Contains(err.Error(), "part 4 of shipment S by shipper came after part 2") {
			t.Fatalf("got %v", err)
		}
	}
	w.want("one\ntwo\n")
	if err := os.Remove(state); err != nil {
		t.Fatal(err)
	}
	if err := w.process(ProcessOptions{State: state}); err != nil {
		t.Fatal(err)
	}
	w.want("four\n")
	if w.said("begins in the middle of shipment S", "part 4") != 1 {
		t.Errorf("it does not say that it begins in the middle: %q", w.notices)
	}
	w.part("shipper", "T", 1, "one\n")
	w.part("shipper", "T", 1, "another\n")
	if err := w.process(ProcessOptions{State: state}); err == nil || !strings.Contains(err.Error(), "part 1 of shipment T by shipper came after part 1") {
		t.Errorf("got %v", err)
	}
}

// TestEndMarkIsCompared: with everything that is known of the shipment, over a restart too; by count alone where the beginning is not
// known. An end mark that does not fit is not acked.
func TestEndMarkIsCompared(t *testing.T) {
	for name, c := range map[string]struct {
		parts int64
		all   string
		lost  bool   // the state, after the first part
		want  string // of the error
	}{
		"fits": {parts: 2, all: "one\ntwo\n"}, "count": {parts: 3, all: "one\ntwo\n", want: "counts 3 parts"},
		"bytes": {parts: 2, all: "one\ntwo", want: "with 7 bytes"}, "digest": {parts: 2, all: "one\nTWO\n", want: sum("one\nTWO\n")},
		"lost": {parts: 2, all: "one\nTWO\n", lost: true}, "lost, count": {parts: 3, all: "one\ntwo\n", lost: true, want: "counts 3 parts"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := startProcessing(t, nil, "p1")
			state := filepath.Join(t.TempDir(), "state")
			w.part("shipper", "S", 1, "one\n")
			ctx, stop := context.WithCancel(w.Context())
			if err := w.processWith(ctx, w.as("p1", stopAt(stop, "ack")), ProcessOptions{State: state}); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if c.lost {
				if err := os.Remove(state); err != nil {
					t.Fatal(err)
				}
			}
			w.want("one\n")
			w.part("shipper", "S", 2, "two\n")
			end := w.end("shipper", "S", c.parts, c.all)
			err := w.process(ProcessOptions{State: state})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			w.want("two\n")
			if notified := w.said("middle") == 1; notified != c.lost {
				t.Errorf("got notices %q", w.notices)
			}
			if seen := w.seen("p1"); (seen >= end) != (c.want == "") {
				t.Errorf("seen is %d, the end mark %d", seen, end)
			}
		})
	}
}

// TestEndMarkOfAnotherShipment: an end mark that was changed to name a shipment of which nothing was processed ends no run well, and
// is not acked while another shipment of its shipper is under way.
func TestEndMarkOfAnotherShipment(t *testing.T) {
	for name, c := range map[string]struct {
		end  endData // instead of that of shipment T, after shipment S
		lost bool    // the state, before the end mark is read
		want string  // of the error
		done bool    // the end mark is acked
	}{
		"unknown":      {endData{Ship: "X", Parts: 1, Bytes: 4, SHA256: sum("two\n")}, false, "of which nothing was processed, while shipment T is at part 1", false},
		"empty":        {endData{Ship: "X", SHA256: sum("")}, false, "while shipment T is at part 1", false},
		"one before":   {endData{Ship: "S", Parts: 1, Bytes: 4, SHA256: sum("one\n")}, false, "while shipment T is at part 1", false},
		"state lost":   {endData{Ship: "T", Parts: 1, Bytes: 4, SHA256: sum("two\n")}, true, "nothing is remembered of shipment T", true},
		"lost, and no": {endData{Ship: "T", SHA256: sum("")}, true, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := startProcessing(t, nil, "p1")
			state := filepath.Join(t.TempDir(), "state")
			w.part("shipper", "S", 1, "one\n")
			w.end("shipper", "S", 1, "one\n")
			if err := w.process(ProcessOptions{State: state}); err != nil {
				t.Fatal(err)
			}
			w.part("shipper", "T", 1, "two\n")
			ctx, stop := context.WithCancel(t.Context())
			if err := w.processWith(ctx, w.as("p1", stopAt(stop, "ack")), ProcessOptions{State: state}); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if c.lost {
				if err := os.Remove(state); err != nil {
					t.Fatal(err)
				}
			}
			end := w.end("shipper", "T", 1, "two\n")
			data, err := json.Marshal(shipped{End: &c.end})
			if err != nil {
				t.Fatal(err)
			}
			edit := client.Draft{Kind: client.KindEdit, Target: end, Data: data}
			if _, err := w.as("shipper").Send(t.Context(), "g", edit); err != nil {
				t.Fatal(err)
			}
			short, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			err = w.processWith(short, w.as("p1"), ProcessOptions{State: state})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if seen := w.seen("p1"); (seen >= end) != c.done {
				t.Errorf("seen is %d, the end mark %d", seen, end)
			}
		})
	}
}

// stopAt calls stop once a request to a path with this ending was answered.
func stopAt(stop func(), ending string) client.Option {
	return client.WithHTTPClient(&http.Client{Transport: answered(func(r *http.Request) error {
		if strings.HasSuffix(r.URL.Path, ending) {
			stop()
		}
		return nil
	})})
}

// answered is a transport that says which requests were answered, before their callers learn it. An error loses the answer.
type answered func(*http.Request) error

func (a answered) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(r)
	if lost := a(r); lost != nil && err == nil {
		return nil, errors.Join(lost, answer.Body.Close())
	}
	return answer, err
}

// TestEndIsRemembered: a processor that is killed after the ack of the end mark and before it returns has ended, and does not wait
// for the next shipment.
func TestEndIsRemembered(t *testing.T) {
	w := startProcessing(t, nil, "p1")
	state := filepath.Join(t.TempDir(), "state")
	w.part("shipper", "S", 1, "one\n")
	end := w.end("shipper", "S", 1, "one\n")
	ctx, stop := context.WithCancel(w.Context())
	var left []byte
	c := w.as("p1", client.WithHTTPClient(&http.Client{Transport: answered(func(r *http.Request) (err error) {
		if left == nil && strings.HasSuffix(r.URL.Path, "ack") && w.seen("p1") >= end {
			left, err = os.ReadFile(state)
			stop()
		}
		return err
	})}))
	if err := w.processWith(ctx, c, ProcessOptions{State: state}); !errors.Is(err, context.Canceled) {
		t.Fatalf("it was not stopped: %v", err)
	}
	write(t, state, string(left)) // what is written after the kill is not there
	w.part("shipper", "T", 1, "two\n")
	short, cancel := context.WithTimeout(w.Context(), 20*time.Second)
	defer cancel()
	if err := w.processWith(short, w.as("p1"), ProcessOptions{State: state}); err != nil {
		t.Errorf("repeated: %v", err)
	}
	w.want("one\n")
}

// TestPartIsHandledOnceOverACrash: a processor that is killed between the state that says so and the ack does not run the handler
// again, and posts the result.
func TestPartIsHandledOnceOverACrash(t *testing.T) {
	w := startProcessing(t, nil, "p1")
	state := filepath.Join(t.TempDir(), "state")
	first := w.part("shipper", "S", 1, "one\n")
	w.end("shipper", "S", 1, "one\n")
	ctx, stop := context.WithCancel(w.Context())
	c := w.as("p1", client.WithHTTPClient(&http.Client{Transport: refusing(func(r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/messages") && r.Method == http.MethodPost {
			stop()
			return true
		}
		return false
	})}))
	if err := w.processWith(ctx, c, ProcessOptions{State: state}); !errors.Is(err, context.Canceled) {
		t.Fatalf("it was not stopped: %v", err)
	}
	if seen := w.seen("p1"); seen >= first {
		t.Fatalf("the part is acked already: %d", seen)
	}
	var results []Result
	collecting, done := context.WithCancel(w.Context())
	defer done()
	s := &shipper{client: w.as("shipper"), opts: Options{Result: func(r Result) { results = append(results, r) }}, log: groupLog{client: w.as("shipper"), group: "g"},
		state: &shipState{Ship: "S", Parts: 1}}
	if _, err := s.log.open(collecting); err != nil {
		t.Fatal(err)
	}
	if err := w.process(ProcessOptions{State: state}); err != nil {
		t.Fatal(err)
	}
	w.want("one\n")
	if err := s.drain(collecting); err != nil || len(results) != 1 || results[0].Number != 1 {
		t.Errorf("got results %+v, %v", results, err)
	}
	w.empty()
}

// refusing is a transport that fails requests before they are made.
type refusing func(*http.Request) bool

func (f refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	if f(r) {
		return nil, errors.New("refused by the test")
	}
	return http.DefaultTransport.RoundTrip(r)
}
