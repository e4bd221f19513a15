package harness

import (
	"fmt"
	"sync"
	"testing"

	"github.com/chatd/chatd/client"
)

// Ledger is what the writers of a run know: which sends they attempted, and which were acknowledged with which id. At
// the end, it is compared with what the readers saw.
type Ledger struct {
	mu        sync.Mutex
	attempted map[string]bool             // client ids
	acked     map[string]map[int64]string // group -> id -> client id
	count     int
}

// Attempt notes a client id before it is sent for the first time.
func (l *Ledger) Attempt(clientID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.attempted == nil {
		l.attempted = map[string]bool{}
	}
	l.attempted[clientID] = true
}

// Acked notes an acknowledged send. An id that two sends got is an error.
func (l *Ledger) Acked(group string, id int64, clientID string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.acked == nil {
		l.acked = map[string]map[int64]string{}
	}
	if l.acked[group] == nil {
		l.acked[group] = map[int64]string{}
	}
	if other, taken := l.acked[group][id]; taken {
		return fmt.Errorf("group %s: id %d given to %s and to %s", group, id, other, clientID)
	}
	l.acked[group][id] = clientID
	l.count++
	return nil
}

// Count returns how many sends have been acknowledged.
func (l *Ledger) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

// Transcript is what one reader received: the messages of each group from id 1 on.
type Transcript struct {
	Name string

	mu     sync.Mutex
	groups map[string][]string // client ids by id - 1; a notice has none
}

// Take adds an event. A message that is not the next one of its group is an error, and so is a gap: in these runs
// nothing is trimmed that a reader has not acked.
func (r *Transcript) Take(e client.Event) error {
	switch e := e.(type) {
	case client.Messages:
		return r.Add(e.Group, e.Messages)
	case client.Gap:
		return fmt.Errorf("%s: told of a gap: %+v", r.Name, e)
	}
	return nil
}

// Add adds messages of one group.
func (r *Transcript) Add(group string, messages []client.Message) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.groups == nil {
		r.groups = map[string][]string{}
	}
	for _, m := range messages {
		if want := int64(len(r.groups[group])) + 1; m.ID != want || m.Group != group {
			return fmt.Errorf("%s: got message %s/%d, want %s/%d", r.Name, m.Group, m.ID, group, want)
		}
		if m.Kind == client.KindText && m.Body != BodyOf(m.ClientID) {
			return fmt.Errorf("%s: message %s/%d has the body of another: %q", r.Name, group, m.ID, m.Body)
		}
		r.groups[group] = append(r.groups[group], m.ClientID)
	}
	return nil
}

// BodyOf returns the body that a run sends with a client id, so that a reader recognizes mixed-up messages.
func BodyOf(clientID string) string { return "body of " + clientID }

// Last returns the id up to which the reader has a group.
func (r *Transcript) Last(group string) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return int64(len(r.groups[group]))
}

// Check compares the transcripts with the ledger: every reader has all groups up to the same id, every acknowledged
// send is where it was acknowledged, no send is there twice, and there is nothing that nobody sent. Add has already
// made sure that transcripts are dense and in order.
func (l *Ledger) Check(tb testing.TB, last map[string]int64, transcripts ...*Transcript) {
	tb.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range transcripts {
		r.mu.Lock()
		for group, want := range last {
			if err := l.check(group, want, r.groups[group]); err != nil {
				tb.Errorf("%s: %v", r.Name, err)
			}
		}
		if len(r.groups) != len(last) {
			tb.Errorf("%s: got messages of %d groups, want %d", r.Name, len(r.groups), len(last))
		}
		r.mu.Unlock()
	}
}

func (l *Ledger) check(group string, last int64, got []string) error {
	if int64(len(got)) != last {
		return fmt.Errorf("group %s: has messages up to %d, want %d", group, len(got), last)
	}
	seen := make(map[string]int, len(got))
	for i, clientID := range got {
		id := int64(i) + 1
		if want, acked := l.acked[group][id]; acked && clientID != want {
			return fmt.Errorf("group %s: message %d is %q, acknowledged was %q", group, id, clientID, want)
		}
		if clientID == "" {
			continue // a notice
		}
		if first, twice := seen[clientID]; twice {
			return fmt.Errorf("group %s: %s is message %d and %d", group, clientID, first, id)
		}
		seen[clientID] = int(id)
		if !l.attempted[clientID] {
			return fmt.Errorf("group %s: message %d is %q, which nobody sent", group, id, clientID)
		}
	}
	for id, clientID := range l.acked[group] {
		if id < 1 || id > last {
			return fmt.Errorf("group %s: message %d (%s) was acknowledged and is not there", group, id, clientID)
		}
	}
	return nil
}
