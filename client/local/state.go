package local

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/chatd/chatd/client"
)

// version is that of what is stored. A store of another one is emptied, but for the outbox: all else can be loaded again.
const version = 1

// meta says what a store has.
type meta struct {
	Version int    `json:"version"`
	User    string `json:"user"`
}

// record is what is known of a group. It is replaced, never changed.
type record struct {
	Group   client.GroupState `json:"group"`
	Log     groupLog          `json:"log"`
	Counted int64             `json:"counted"` // up to which id the counts of Group are right
	Listed  bool              `json:"listed"`  // false: only its messages have been seen, and no description
	Bytes   int64             `json:"bytes"`   // of the messages that are held, about
	Opened  time.Time         `json:"opened"`  // when a timeline of it was last opened
}

// task is something to send.
type task struct {
	N      int64        `json:"n"` // its position in the outbox
	Group  string       `json:"group"`
	Draft  client.Draft `json:"draft"` // with its key as ClientID
	Queued time.Time    `json:"queued"`
	After  int64        `json:"after"` // the last id that was known then: it is in the log after this, if at all
	ID     int64        `json:"id"`    // given by the server, which has it; the log that is held does not yet
	SentAt time.Time    `json:"sent_at,omitzero"`
	Failed *Failure     `json:"failed,omitempty"`
}

func (t task) key() string { return t.Draft.ClientID }

// isMessage reports whether it is a line of its own, and no change of another one.
func (t task) isMessage() bool { return t.Draft.Target == 0 }

const (
	keyMeta   = "meta"
	keyGroups = "g/"
	keyOutbox = "o/"
	keyReads  = "r/"
)

func keyGroup(group string) string { return keyGroups + url.PathEscape(group) }
func keyRead(group string) string  { return keyReads + url.PathEscape(group) }
func keyTask(n int64) string       { return fmt.Sprintf("%s%016d", keyOutbox, n) }
func keyEntry(group string, id int64) string {
	return fmt.Sprintf("m/%s/%016d", url.PathEscape(group), id)
}
func keyLoose(group string, id int64) string {
	return fmt.Sprintf("c/%s/%016d", url.PathEscape(group), id)
}

// behind is above every key that begins with a prefix which ends with a slash.
func behind(prefix string) string { return prefix[:len(prefix)-1] + "0" }

// idMax is above all ids: a double has them exactly below.
const idMax = 1 << 53

// state is what is in memory: all but the messages.
type state struct {
	me     string
	groups map[string]record
	outbox []task // in order
	reads  map[string]int64
}

// load reads the state from a store.
func load(ctx context.Context, store Store, user string) (s state, err error) {
	s = state{me: user, groups: map[string]record{}, reads: map[string]int64{}}
	var m meta
	if _, err := get(ctx, store, keyMeta, &m); err != nil {
		return s, err
	}
	if m.User != "" && user != "" && m.User != user {
		return s, fmt.Errorf("%w: the store is that of %s, not of %s", ErrOtherUser, m.User, user)
	}
	s.me = cmp.Or(user, m.User)
	if m != (meta{version, s.me}) {
		changes := []Change{put(keyMeta, meta{version, s.me})}
		if m.Version != version {
			changes = append(changes, Change{Key: "", Until: keyMeta}, Change{Key: keyMeta + "\x00", Until: keyOutbox}, Change{Key: behind(keyOutbox), Until: "\xff"})
		}
		if err := store.Write(ctx, changes); err != nil {
			return s, err
		}
	}
	if err := each(ctx, store, keyGroups, func(r record) { s.groups[r.Group.ID] = r }); err != nil {
		return s, err
	}
	if err := each(ctx, store, keyOutbox, func(t task) { s.outbox = append(s.outbox, t) }); err != nil {
		return s, err
	}
	return s, each(ctx, store, keyReads, func(r read) { s.reads[r.Group] = r.ID })
}

// read is a position of the person that the server has not confirmed.
type read struct {
	Group string `json:"group"`
	ID    int64  `json:"id"`
}

// get decodes what stands under a key, and reports whether there is anything.
func get(ctx context.Context, store Store, key string, into any) (bool, error) {
	value, err := store.Get(ctx, key)
	if err != nil || value == nil {
		return false, err
	}
	return true, decode(key, value, into)
}

func decode(key string, value json.RawMessage, into any) error {
	if err := json.Unmarshal(value, into); err != nil {
		return fmt.Errorf("the store has under %s: %w", key, err)
	}
	return nil
}

// each decodes what stands under all keys with a prefix.
func each[T any](ctx context.Context, store Store, prefix string, take func(T)) error {
	entries, err := store.Range(ctx, prefix, behind(prefix), 0, false)
	if err != nil {
		return err
	}
	for _, e := range entries {
		var v T
		if err := decode(e.Key, e.Value, &v); err != nil {
			return err
		}
		take(v)
	}
	return nil
}

func put(key string, value any) Change {
	text, err := json.Marshal(value)
	if err != nil {
		text = nil // not of these types, but for JSON of the caller that is none, which Send refuses
	}
	return Change{Key: key, Value: text}
}

// record returns what is known of a group.
func (s *state) record(group string) record {
	if r, ok := s.groups[group]; ok {
		return r
	}
	return record{Group: client.GroupState{Group: client.Group{ID: group, First: 1}}, Log: emptyLog()}
}

// tip is the last id that there is, as far as is known.
func (r record) tip() int64 {
	if r.Log.placed() {
		return r.Log.End
	}
	return r.Group.Last
}

// floor is the lowest id that is to be had from the server.
func (r record) floor() int64 { return max(r.Log.Floor, r.Group.First) }

// task returns the task with a key.
func (s *state) task(key string) (task, bool) {
	i := slices.IndexFunc(s.outbox, func(t task) bool { return t.key() == key })
	if i < 0 {
		return task{}, false
	}
	return s.outbox[i], true
}
