package profiles

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatd/chatd/chat"
)

// Bounds of what a node remembers of profiles.
const (
	knownMax   = 50_000                 // users in each of two generations: some megabytes each
	readWithin = 500 * time.Millisecond // for what a batch lacks: it goes out without, and its client asks
	failedWait = time.Second            // how long nothing is read after that failed
)

// Shown is what a node remembers of a profile.
type Shown struct {
	Version int64 // 0: the user has none
	Name    string
}

// known remembers the versions and names of profiles until they change.
type known struct {
	changes atomic.Int64 // how often something was dropped

	mu         sync.Mutex
	young, old map[string]Shown
	reading    map[string]*bool // users who are being read: whether they changed meanwhile
	failedAt   time.Time
}

func newKnown() *known {
	return &known{young: map[string]Shown{}, reading: map[string]*bool{}}
}

// drop forgets users whose profile has changed, also for readings under way.
func (k *known) drop(users []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, user := range users {
		delete(k.young, user)
		delete(k.old, user)
		if changed := k.reading[user]; changed != nil {
			*changed = true
		}
	}
	k.changes.Add(1)
}

func (k *known) dropAll() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.young, k.old = map[string]Shown{}, nil
	for _, changed := range k.reading {
		*changed = true
	}
	k.changes.Add(1)
}

// get takes what is known of users into found, and returns the others.
func (k *known) get(users []string, found map[string]Shown) (missing []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, user := range users {
		shown, ok := k.young[user]
		if !ok {
			if shown, ok = k.old[user]; ok {
				k.putLocked(user, shown)
			}
		}
		if ok {
			found[user] = shown
		} else {
			missing = append(missing, user)
		}
	}
	return missing
}

func (k *known) putLocked(user string, shown Shown) {
	if len(k.young) >= knownMax {
		k.old, k.young = k.young, map[string]Shown{}
	}
	k.young[user] = shown
	delete(k.old, user)
}

// begin begins a reading of users.
func (k *known) begin(users []string) map[string]*bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	mine := make(map[string]*bool, len(users))
	for _, user := range users {
		changed := k.reading[user]
		if changed == nil {
			changed = new(bool)
			k.reading[user] = changed
		}
		mine[user] = changed
	}
	return mine
}

// end remembers what was read, but for what changed meanwhile. A failed reading has read nothing.
func (k *known) end(mine map[string]*bool, read map[string]Shown) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for user, changed := range mine {
		if shown, ok := read[user]; ok && !*changed {
			k.putLocked(user, shown)
		}
		if k.reading[user] == changed {
			delete(k.reading, user)
		}
	}
	if read == nil {
		k.failedAt = time.Now()
	}
}

func (k *known) failedJustNow() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return time.Since(k.failedAt) < failedWait
}

// Shown tells what is shown of users, from the memory of the node. What it lacks is read in one round trip, and left out where that fails. As long
// as nobody has a profile, nothing is read.
func (s *Service) Shown(ctx context.Context, users []string) map[string]Shown {
	if len(users) == 0 || !s.published.Any() {
		return nil
	}
	found := make(map[string]Shown, len(users))
	missing := s.known.get(users, found)
	if len(missing) > 0 && !s.known.failedJustNow() {
		maps.Copy(found, s.readShown(ctx, missing))
	}
	return found
}

func (s *Service) readShown(ctx context.Context, users []string) (read map[string]Shown) {
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	mine := s.known.begin(users)
	defer func() { s.known.end(mine, read) }()
	stored, err := s.store.ReadProfiles(ctx, users)
	if err != nil {
		s.opt.Log.DebugContext(ctx, "profiles cannot be read; batches go out without", "error", err)
		return nil
	}
	read = make(map[string]Shown, len(users))
	for i, user := range users {
		shown := Shown{}
		if r, err := stored[i].read(); err == nil && r.Shown {
			shown = Shown{stored[i].Version, r.Name}
		}
		read[user] = shown
	}
	return read
}

// Field is the JSON of the versions of profiles that go with messages; nil: there are none.
func (s *Service) Field(ctx context.Context, messages []chat.Message) []byte {
	if !s.published.Any() || len(messages) == 0 {
		return nil
	}
	return s.field(ctx, Of(messages...))
}

// InboxField is Field for items of an inbox: of those who wrote them.
func (s *Service) InboxField(ctx context.Context, items []chat.StoredItem) []byte {
	if !s.published.Any() || len(items) == 0 {
		return nil
	}
	return s.field(ctx, From(items...))
}

func (s *Service) field(ctx context.Context, users []string) []byte {
	versions := s.Versions(ctx, users)
	if len(versions) == 0 {
		return nil
	}
	text, _ := json.Marshal(versions) //nolint:errchkjson // names and numbers
	return text
}

// Fields is Field for each of several lists, with one read for all.
func (s *Service) Fields(ctx context.Context, lists ...[]chat.Message) [][]byte {
	fields := make([][]byte, len(lists))
	if !s.published.Any() {
		return fields
	}
	if len(lists) > 1 {
		s.Shown(ctx, Of(slices.Concat(lists...)...))
	}
	for i, messages := range lists {
		fields[i] = s.Field(ctx, messages)
	}
	return fields
}

// Name is the name of a user; empty: they have none.
func (s *Service) Name(ctx context.Context, user string) string {
	return s.Shown(ctx, []string{user})[user].Name
}

// Names is the JSON of the names of those who wrote an entry and who are mentioned in it, with the versions of their profiles, by user; nil: none has
// a profile.
func (s *Service) Names(ctx context.Context, entry []byte) []byte {
	if !s.published.Any() {
		return nil
	}
	type named struct {
		Name    string `json:"name,omitempty"`
		Version int64  `json:"version"`
	}
	names := map[string]named{}
	for user, shown := range s.Shown(ctx, Of(chat.Message{JSON: entry})) {
		if shown.Version > 0 {
			names[user] = named{shown.Name, shown.Version}
		}
	}
	if len(names) == 0 {
		return nil
	}
	text, _ := json.Marshal(names) //nolint:errchkjson // names and numbers
	return text
}

// Changes counts what this node has learnt of changes: as long as it is the same, what Shown said holds.
func (s *Service) Changes() int64 { return s.known.changes.Load() }

// Versions are the versions of the profiles that there are, by user.
func (s *Service) Versions(ctx context.Context, users []string) map[string]int64 {
	var versions map[string]int64
	for user, shown := range s.Shown(ctx, users) {
		if shown.Version > 0 {
			if versions == nil {
				versions = map[string]int64{}
			}
			versions[user] = shown.Version
		}
	}
	return versions
}
