package client

import (
	"fmt"
	"reflect"
	"testing"
)

// numbered makes a batch of group g with the ids from..to.
func numbered(epoch string, from, to int64, complete bool) batch {
	b := batch{Group: "g", Epoch: epoch, From: from, To: to, Complete: complete, Cursor: Position(fmt.Sprintf("%s.%d.x", epoch, to))}
	for id := from; id <= to; id++ {
		b.Messages = append(b.Messages, Message{Group: "g", ID: id})
	}
	return b
}

// span describes an event, short enough to compare.
type span struct {
	what     string
	from, to int64
}

func spans(events []Event) []span {
	var all []span
	for _, e := range events {
		switch e := e.(type) {
		case Messages:
			all = append(all, span{"messages", e.From, e.To})
			if len(e.Messages) == 0 || e.Messages[0].ID != e.From || e.Messages[len(e.Messages)-1].ID != e.To {
				all = append(all, span{"not what it says", e.From, e.To})
			}
		case Gap:
			all = append(all, span{"gap", e.After, e.From})
		}
	}
	return all
}

func TestTrackerDeliversEachMessageOnce(t *testing.T) {
	tests := []struct {
		name    string
		at      map[string]Position
		batches []batch
		want    []span
		fails   bool // the last batch
		stats   Stats
	}{
		{"from nothing", nil, []batch{numbered("a", 1, 3, true), numbered("a", 4, 4, true)},
			[]span{{"messages", 1, 3}, {"messages", 4, 4}}, false, Stats{Messages: 4}},
		{"an overlap is left out", nil, []batch{numbered("a", 1, 3, true), numbered("a", 2, 5, true)},
			[]span{{"messages", 1, 3}, {"messages", 4, 5}}, false, Stats{Messages: 5, Repeats: 2}},
		{"a repeat is left out", nil, []batch{numbered("a", 1, 3, true), numbered("a", 1, 2, true)},
			[]span{{"messages", 1, 3}}, false, Stats{Messages: 3, Repeats: 2}},
		{"a silent hole is refused", nil, []batch{numbered("a", 1, 3, true), numbered("a", 5, 6, true)},
			[]span{{"messages", 1, 3}}, true, Stats{Messages: 3, Holes: 1}},
		{"a silent hole after a kept id", map[string]Position{"g": "7"}, []batch{numbered("a", 9, 9, true)},
			nil, true, Stats{Holes: 1}},
		{"a kept cursor is the server's to judge", map[string]Position{"g": "a.7.k"}, []batch{numbered("a", 8, 9, true)},
			[]span{{"messages", 8, 9}}, false, Stats{Messages: 2}},
		{"a hole that is told", nil, []batch{numbered("a", 1, 3, true), numbered("a", 8, 9, false)},
			[]span{{"messages", 1, 3}, {"gap", 3, 8}, {"messages", 8, 9}}, false, Stats{Messages: 5, Gaps: 1}},
		{"a log that lost its end", nil, []batch{numbered("a", 1, 9, true), numbered("a", 4, 5, false)},
			[]span{{"messages", 1, 9}, {"gap", 9, 4}, {"messages", 4, 5}}, false, Stats{Messages: 11, Gaps: 1}},
		{"another epoch is a gap, whatever is said", nil, []batch{numbered("a", 1, 3, true), numbered("b", 1, 1, true)},
			[]span{{"messages", 1, 3}, {"gap", 3, 1}, {"messages", 1, 1}}, false, Stats{Messages: 4, Gaps: 1}},
		{"a gap with nothing behind it", nil, []batch{numbered("a", 1, 9, true), numbered("a", 6, 5, false)},
			[]span{{"messages", 1, 9}, {"gap", 9, 6}}, false, Stats{Messages: 9, Gaps: 1}},
		{"an empty batch", nil, []batch{numbered("a", 1, 3, true), numbered("a", 4, 3, true)},
			[]span{{"messages", 1, 3}}, false, Stats{Messages: 3}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var count counters
			tracker := newTracker(test.at, "", nil, &count)
			var got []span
			var last error
			for _, b := range test.batches {
				events, err := tracker.batch(b)
				got, last = append(got, spans(events)...), err
			}
			if (last != nil) != test.fails {
				t.Errorf("got error %v, want one: %v", last, test.fails)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
			stats := count.stats()
			test.stats.Batches = int64(len(test.batches))
			if stats != test.stats {
				t.Errorf("got %+v, want %+v", stats, test.stats)
			}
		})
	}
}

func TestTrackerRefusesBatchesThatAreNotDense(t *testing.T) {
	hole := numbered("a", 1, 4, true)
	hole.Messages = append(hole.Messages[:1:1], hole.Messages[2:]...)
	swapped := numbered("a", 1, 3, true)
	swapped.Messages[0], swapped.Messages[1] = swapped.Messages[1], swapped.Messages[0]
	long := numbered("a", 1, 3, true)
	long.To = 2
	for name, b := range map[string]batch{"hole": hole, "swapped": swapped, "longer than said": long} {
		if events, err := newTracker(nil, "", nil, &counters{}).batch(b); err == nil || len(events) > 0 {
			t.Errorf("%s: got %v and %v, want an error alone", name, events, err)
		}
	}
}

func TestTrackerPinsOnlyWhatHasNoPosition(t *testing.T) {
	tracker := newTracker(map[string]Position{"g": "a.7.k"}, "", nil, &counters{})
	got := tracker.pin(map[string]GroupPosition{"g": {Epoch: "a", Seen: 3}, "h": {Epoch: "b", Seen: 4}})
	if want := (map[string]Position{"h": "4"}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if want := (map[string]Position{"g": "a.7.k", "h": "4"}); !reflect.DeepEqual(tracker.after(), want) {
		t.Errorf("got %v, want %v", tracker.after(), want)
	}
}

func TestTrackerLeavesOutItemsThatItHandedOut(t *testing.T) {
	tracker := newTracker(nil, "", nil, &counters{})
	three := Inbox{Epoch: "a", From: 1, To: 3, Complete: true, Items: []Item{{Seq: 1}, {Seq: 2}, {Seq: 3}}}
	four := Inbox{Epoch: "a", From: 2, To: 4, Complete: true, Items: []Item{{Seq: 2}, {Seq: 3}, {Seq: 4}}}
	if got, fresh := tracker.items(three); !fresh || len(got.Items) != 3 {
		t.Errorf("got %v, %v, want all three", got, fresh)
	}
	if got, fresh := tracker.items(four); !fresh || got.From != 4 || len(got.Items) != 1 {
		t.Errorf("got %v, %v, want the fourth", got, fresh)
	}
	if got, fresh := tracker.items(four); fresh {
		t.Errorf("got %v again", got)
	}
	four.Epoch = "b"
	if got, fresh := tracker.items(four); !fresh || len(got.Items) != 3 {
		t.Errorf("another inbox: got %v, %v, want all three", got, fresh)
	}
}

// TestTrackerOfAGroupThatTheCallerWasOutOf: what was written meanwhile is a gap, and no hole to ask for again and again.
func TestTrackerOfAGroupThatTheCallerWasOutOf(t *testing.T) {
	track := newTracker(nil, StartNewest, nil, &counters{})
	if _, err := track.batch(numbered("e", 1, 3, true)); err != nil {
		t.Fatal(err)
	}
	track.pin(map[string]GroupPosition{"g": {Epoch: "e", First: 8, Last: 9}})
	if _, err := track.batch(numbered("e", 7, 9, true)); err == nil {
		t.Error("ids that may be read are missing, and it takes what follows")
	}
	events, err := track.batch(numbered("e", 8, 9, true))
	if want := []span{{"gap", 3, 8}, {"messages", 8, 9}}; err != nil || !reflect.DeepEqual(spans(events), want) {
		t.Errorf("got %v, %v, want %v", spans(events), err, want)
	}
}

// TestTrackerForgetsTheFirstOfAnotherLife: what a welcome said of a group is not said of what came in its place.
func TestTrackerForgetsTheFirstOfAnotherLife(t *testing.T) {
	tr := newTracker(nil, "", nil, &counters{})
	tr.pin(map[string]GroupPosition{"g": {Epoch: "a", First: 500, Last: 600, Seen: 600}})
	for _, b := range []batch{numbered("a", 601, 601, true), numbered("b", 1, 3, false)} {
		events, err := tr.batch(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if m, ok := e.(Messages); ok && m.First != 0 {
				t.Errorf("%d to %d of life %s come with %d, which the server did not say", m.From, m.To, m.Epoch, m.First)
			}
		}
	}
	if events, err := tr.batch(numbered("b", 500, 501, true)); err == nil {
		t.Errorf("what is missing in the life after is taken for what was before a joining: %v", spans(events))
	}
}
