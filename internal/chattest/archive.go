package chattest

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
)

// errAway is why an Archive that is away refuses every call.
var errAway = errors.New("the archive of the test is away")

// Archive is an archive.Store in memory: the model that databases are compared with. It goes through all it has for every
// question.
type Archive struct {
	mu   sync.Mutex
	id   string
	away bool
	adds int
	logs map[archive.Log]map[int64]chat.Message
	// Of each log: how often it was written, and the highest id that was dropped.
	versions, dropped map[archive.Log]int64
	order             []archive.Log // as they were first added
}

var _ archive.Store = (*Archive)(nil)

// NewArchive makes an empty archive of this id.
func NewArchive(id string) *Archive {
	return &Archive{id: id, logs: map[archive.Log]map[int64]chat.Message{},
		versions: map[archive.Log]int64{}, dropped: map[archive.Log]int64{}}
}

// Away makes every call fail with chat.ErrUnavailable, until it is called with false.
func (a *Archive) Away(away bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.away = away
}

// Adds is how many calls of Add have succeeded.
func (a *Archive) Adds() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.adds
}

// Logs are the logs that it has entries of, in no particular order.
func (a *Archive) Logs() []archive.Log {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Collect(maps.Keys(a.logs))
}

// open locks the archive, or says that it is away.
func (a *Archive) open() (unlock func(), err error) {
	a.mu.Lock()
	if a.away {
		a.mu.Unlock()
		return nil, &chat.Error{Code: chat.CodeUnavailable, Message: chat.ErrUnavailable.Message, Cause: errAway}
	}
	return a.mu.Unlock, nil
}

// ID implements archive.Store.
func (a *Archive) ID(context.Context) (string, error) {
	unlock, err := a.open()
	if err != nil {
		return "", err
	}
	defer unlock()
	return a.id, nil
}

// Add implements archive.Store.
func (a *Archive) Add(_ context.Context, batches []archive.Batch) error {
	unlock, err := a.open()
	if err != nil {
		return err
	}
	defer unlock()
	before := a.state()
	for _, b := range batches {
		if err := a.addOne(b); err != nil {
			a.logs, a.versions = before.logs, before.versions
			return err
		}
	}
	a.adds++
	return nil
}

// state copies what an Add changes.
func (a *Archive) state() *Archive {
	was := &Archive{logs: map[archive.Log]map[int64]chat.Message{}, versions: maps.Clone(a.versions)}
	for log, entries := range a.logs {
		was.logs[log] = maps.Clone(entries)
	}
	return was
}

func (a *Archive) addOne(b archive.Batch) error {
	log := a.logs[b.Log]
	if log == nil {
		log = map[int64]chat.Message{}
		a.logs[b.Log] = log
		if !slices.Contains(a.order, b.Log) {
			a.order = append(a.order, b.Log)
		}
	}
	top := a.dropped[b.Log]
	takesAway, adds := false, false
	for id := range log {
		top, takesAway = max(top, id), takesAway || id > b.Last
	}
	for _, m := range b.Messages {
		if has, ok := log[m.ID]; !ok || has.Mark != m.Mark {
			takesAway, adds = takesAway || m.ID <= top, true
		}
	}
	if a.versions[b.Log] == 0 {
		a.versions[b.Log] = 1
	}
	if takesAway && b.Version != a.versions[b.Log] {
		return chat.ErrConflict
	}
	if takesAway || adds {
		a.versions[b.Log]++
	}
	for id := range log {
		if id > b.Last {
			lose(log, id)
		}
	}
	for _, m := range b.Messages {
		if has, ok := log[m.ID]; ok && has.Mark != m.Mark {
			lose(log, m.ID)
		}
	}
	for _, m := range b.Messages {
		if err := add(log, m); err != nil {
			return err
		}
	}
	return nil
}

// Version implements archive.Store.
func (a *Archive) Version(_ context.Context, log archive.Log) (int64, error) {
	unlock, err := a.open()
	if err != nil {
		return 0, err
	}
	defer unlock()
	return a.versions[log], nil
}

// LogsAfter implements archive.Store.
func (a *Archive) LogsAfter(_ context.Context, after int64, limit int) (logs []archive.Log, next int64, err error) {
	unlock, err := a.open()
	if err != nil {
		return nil, 0, err
	}
	defer unlock()
	for n, log := range a.order[after:] {
		if len(logs) == limit {
			return logs, next, nil
		}
		if a.logs[log] != nil {
			logs, next = append(logs, log), after+int64(n)+1
		}
	}
	return logs, 0, nil
}

// lose removes an entry that the log has lost, also from the list of edits of its target.
func lose(log map[int64]chat.Message, id int64) {
	lost, err := decoded(log[id])
	delete(log, id)
	if target, ok := log[lost.Target]; err == nil && ok && lost.Kind == chat.Edit {
		target.Edits = slices.DeleteFunc(slices.Clone(target.Edits), func(edit int64) bool { return edit == id })
		if len(target.Edits) == 0 {
			target.Edits = nil // as of a message that was never edited
		}
		log[lost.Target] = target
	}
}

// add puts an entry into a log and changes what it names.
func add(log map[int64]chat.Message, m chat.Message) error {
	if has, ok := log[m.ID]; ok && has.Mark == m.Mark {
		return nil
	}
	log[m.ID] = m
	change, err := decoded(m)
	for _, id := range change.Erased {
		if one, ok := log[id]; ok {
			if log[id], err = chat.Applied(one, change); err != nil {
				return err
			}
		}
	}
	if err != nil || change.Kind != chat.Edit && change.Kind != chat.Delete {
		return err
	}
	if change.Kind == chat.Delete {
		// The edits of what is deleted lose their content too, and the reactions that stand lose their emoji.
		for id, one := range log {
			e, err := decoded(one)
			by := change
			switch {
			case err != nil:
				return err
			case e.Target != change.Target || e.Kind != chat.Edit && (e.Kind != chat.Reaction || e.Removed):
				continue
			case e.Kind == chat.Reaction:
				by.From = e.From // also an erasure of another person leaves its author
			}
			if log[id], err = chat.Applied(one, by); err != nil {
				return err
			}
		}
	}
	if target, ok := log[change.Target]; ok {
		log[change.Target], err = chat.Applied(target, change)
	}
	return err
}

func decoded(m chat.Message) (e chat.Entry, err error) {
	err = json.Unmarshal(m.JSON, &e)
	return e, err
}

// Read implements archive.Store.
func (a *Archive) Read(_ context.Context, log archive.Log, span archive.Span) ([]chat.Message, error) {
	unlock, err := a.open()
	if err != nil {
		return nil, err
	}
	defer unlock()
	var ids []int64
	for id := range a.logs[log] {
		if id >= span.From && id <= span.To {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	if span.Backward {
		slices.Reverse(ids)
	}
	var found []chat.Message
	bytes := 0
	for _, id := range ids {
		m := a.logs[log][id]
		bytes += len(m.JSON)
		if len(found) == span.Limit || len(found) > 0 && bytes > span.BytesMax {
			break
		}
		found = append(found, m)
	}
	if span.Backward {
		slices.Reverse(found)
	}
	return found, nil
}

// Entries implements archive.Store.
func (a *Archive) Entries(_ context.Context, log archive.Log, ids []int64) ([]chat.Message, error) {
	unlock, err := a.open()
	if err != nil {
		return nil, err
	}
	defer unlock()
	var found []chat.Message
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		if m, ok := a.logs[log][id]; ok {
			found = append(found, m)
		}
	}
	return found, nil
}

// reacted is the newest entry of a user with an emoji on a message.
type reacted struct {
	entry int64
	on    bool
}

// reactions are the newest entries on one message, by emoji and user; none where it is deleted or absent.
func (a *Archive) reactions(log archive.Log, target int64) (map[string]map[string]reacted, error) {
	m, ok := a.logs[log][target]
	if !ok {
		return nil, nil
	}
	if e, err := decoded(m); err != nil || e.DeletedAt != nil {
		return nil, err
	}
	newest := map[string]map[string]reacted{}
	for _, id := range slices.Sorted(maps.Keys(a.logs[log])) {
		e, err := decoded(a.logs[log][id])
		if err != nil {
			return nil, err
		}
		if e.Kind != chat.Reaction || e.Target != target || e.From == "" || e.DeletedAt != nil {
			continue
		}
		if newest[e.Emoji] == nil {
			newest[e.Emoji] = map[string]reacted{}
		}
		newest[e.Emoji][e.From] = reacted{id, !e.Removed}
	}
	return newest, nil
}

// count is how many users have reacted with an emoji.
func count(users map[string]reacted) (n int64) {
	for _, r := range users {
		if r.on {
			n++
		}
	}
	return n
}

// ReactionsTo implements archive.Store.
func (a *Archive) ReactionsTo(_ context.Context, log archive.Log, target, after int64, limit int) (found []chat.Message, err error) {
	unlock, err := a.open()
	if err != nil {
		return nil, err
	}
	defer unlock()
	for _, id := range slices.Sorted(maps.Keys(a.logs[log])) {
		e, err := decoded(a.logs[log][id])
		if err != nil {
			return nil, err
		}
		if e.Kind == chat.Reaction && e.Target == target && id > after && len(found) < limit {
			found = append(found, a.logs[log][id])
		}
	}
	return found, nil
}

// Reactions implements archive.Store.
func (a *Archive) Reactions(_ context.Context, log archive.Log, user string, from, to int64) (map[int64]map[string]chat.ReactionCount, error) {
	unlock, err := a.open()
	if err != nil {
		return nil, err
	}
	defer unlock()
	found := map[int64]map[string]chat.ReactionCount{}
	for target := range a.logs[log] {
		if target < from || target > to {
			continue
		}
		emojis, err := a.reactions(log, target)
		if err != nil {
			return nil, err
		}
		for emoji, users := range emojis {
			n := count(users)
			if n == 0 {
				continue
			}
			if found[target] == nil {
				found[target] = map[string]chat.ReactionCount{}
			}
			found[target][emoji] = chat.ReactionCount{Count: n, Mine: users[user].on}
		}
	}
	return found, nil
}

// Reacted implements archive.Store.
func (a *Archive) Reacted(_ context.Context, log archive.Log, target int64, user, emoji string) (archive.Reacted, error) {
	unlock, err := a.open()
	if err != nil {
		return archive.Reacted{}, err
	}
	defer unlock()
	var r archive.Reacted
	m, ok := a.logs[log][target]
	if !ok {
		return r, nil
	}
	e, err := decoded(m)
	if err != nil {
		return r, err
	}
	r.Alive = (e.Kind == chat.Text || e.Kind == chat.Data) && e.DeletedAt == nil
	emojis, err := a.reactions(log, target)
	if err != nil {
		return r, err
	}
	for one, users := range emojis {
		if count(users) > 0 {
			r.Emojis++
			r.Has = r.Has || one == emoji
		}
	}
	mine := emojis[emoji][user]
	r.Entry, r.On = mine.entry, mine.on
	return r, nil
}

// Drop implements archive.Store.
func (a *Archive) Drop(_ context.Context, log archive.Log, to int64) (more bool, err error) {
	unlock, err := a.open()
	if err != nil {
		return false, err
	}
	defer unlock()
	maps.DeleteFunc(a.logs[log], func(id int64, _ chat.Message) bool {
		if id <= to {
			a.dropped[log] = max(a.dropped[log], id)
		}
		return id <= to
	})
	a.versions[log]++
	if len(a.logs[log]) == 0 && to >= chat.IDMax {
		delete(a.logs, log)
		delete(a.versions, log)
		delete(a.dropped, log)
	}
	return false, nil
}
