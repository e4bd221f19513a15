package local

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chatd/chatd/client"
)

// TestLoadGap: what a gap hides takes its place once the server has it, in parts, and is applied to what was held.
func TestLoadGap(t *testing.T) {
	const last, later = 160, 164 // later: what the server has beyond what was received
	var first atomic.Int64
	first.Store(last - 1)
	log := make([]client.Message, later+1)
	for id := range log {
		log[id] = client.Message{ID: int64(id), Group: "g", From: "bob", Content: client.Content{Kind: client.KindText, Body: strconv.Itoa(id)}}
	}
	log[5].Content = client.Content{Kind: client.KindEdit, Target: 1, Body: "edited"}
	log[6].Content = client.Content{Kind: client.KindDelete, Target: 2}
	log[7].Thread = 3
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		after, err := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
		if err != nil || !strings.HasSuffix(r.URL.Path, "/messages") {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		from := max(after+1, first.Load())
		to := min(from+pageAsked-1, later)
		_ = json.NewEncoder(w).Encode(map[string]any{"epoch": "e", "from": from, "to": to, "first": first.Load(), "last": later, "complete": from == after+1,
			"has_more": to < later, "messages": log[from : to+1]})
	}))
	defer server.Close()
	chat := openChat(t.Context(), t, server.URL)
	defer chat.Close()
	take := func(from, to int64, gap *client.Gap) {
		t.Helper()
		b := client.Messages{Group: "g", Epoch: "e", From: from, To: to, Cursor: client.Position(fmt.Sprint("c", to)), Messages: log[from : to+1]}
		if err := chat.commit(t.Context(), func(d *draft) error {
			_, err := d.received(b, gap)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	take(1, 4, nil)
	log[3].Replies = 1 // as pages have it
	take(last-1, last, &client.Gap{Group: "g", Epoch: "e", After: 4, From: last - 1})
	timeline, err := chat.Timeline(t.Context(), "g", At{})
	if err != nil {
		t.Fatal(err)
	}
	gap := func() (found Gap) {
		for _, l := range timeline.View().Lines {
			if l.Gap != nil {
				found = *l.Gap
			}
		}
		return found
	}
	load := func(want bool, left Gap) {
		t.Helper()
		some, err := timeline.LoadGap(t.Context(), gap())
		if err != nil || some != want || gap() != left {
			t.Fatalf("loaded %t (%v), and %v is left; want %t and %v", some, err, gap(), want, left)
		}
	}
	load(false, Gap{5, last - 2})
	first.Store(1)
	load(true, Gap{105, last - 2})
	load(true, Gap{})
	load(false, Gap{})
	at := int64(0)
	lines := timeline.View().Lines
	for _, l := range lines {
		if l.ID <= at {
			t.Errorf("%d comes after %d", l.ID, at)
		}
		at = l.ID
	}
	if len(lines) != last-3 || lines[0].Body != "edited" || lines[1].DeletedAt == nil || lines[2].Replies != 1 {
		t.Errorf("%d lines, of which the first are %+v", len(lines), lines[:3])
	}
	// The last page reached beyond what had been received. That does not come any more: it is a gap as any other.
	take(later, later, &client.Gap{Group: "g", Epoch: "e", After: last, From: later})
	if gap() != (Gap{last + 1, later - 1}) {
		t.Errorf("after %d, of which %d was received, the gap is %v", later, last, gap())
	}
	load(true, Gap{})
	if lines := timeline.View().Lines; len(lines) != later-3 {
		t.Errorf("%d lines of %d", len(lines), later-3)
	}
}
