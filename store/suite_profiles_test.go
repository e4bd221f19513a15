package store_test

import (
	"fmt"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/chat/table"
)

var profileTests = map[string]func(*fixture){
	"ReadProfiles, ReadProfile and PutProfiles": testProfiles,
	"NewAvatarID and ReadAvatar":                testAvatars,
	"PublishChanges":                            testPublishChanges,
	"FindUsers":                                 testFindUsers,
	"KnownUsers and AreMembers":                 testKnownUsers,
	"Acquaintances":                             testAcquaintances,
	"SawUsers and LastSeen":                     testLastSeen,
	"ErasePerson and its profile":               testEraseProfile,
}

// putProfile writes a profile and returns its version.
func (w *fixture) putProfile(p profiles.Write) int64 {
	w.Helper()
	versions, errs, err := w.PutProfiles(w.ctx, []profiles.Write{p})
	w.ok(err)
	w.ok(errs[0])
	return versions[0]
}

// names are the entries of the index of names, of all partitions.
func (w *fixture) names() map[string]bool {
	w.Helper()
	found := map[string]bool{}
	for p := range w.Partitions() {
		all, err := w.Client().ZRange(w.ctx, fmt.Sprintf("%s:{p%02d}:names", w.Prefix(), p), 0, -1).Result()
		w.ok(err)
		for _, name := range all {
			found[name] = true
		}
	}
	return found
}

func testProfiles(w *fixture) {
	none, err := w.ReadProfile(w.ctx, "alice")
	w.ok(err)
	w.equal(none, profiles.Stored{})
	first := w.putProfile(profiles.Write{User: "alice", Stored: profiles.Stored{Text: "{}", Settings: `"s"`}, WithSettings: true, Words: []string{"alice", "al a", "a"}})
	w.equal(w.names(), map[string]bool{"alice\x00alice": true, "al a\x00alice": true, "a\x00alice": true})
	second := w.putProfile(profiles.Write{User: "alice", Stored: profiles.Stored{Version: first, Text: `{"name":"b"}`}, Words: []string{"b"}})
	if second <= first {
		w.Errorf("got versions %d and %d", first, second)
	}
	w.equal(w.names(), map[string]bool{"b\x00alice": true})
	versions, errs, err := w.PutProfiles(w.ctx, []profiles.Write{
		{User: "alice", Stored: profiles.Stored{Version: first, Text: "late"}}, {User: "bob", Stored: profiles.Stored{Text: "b"}}, {User: "carl", Stored: profiles.Stored{Version: 1, Text: "c"}},
	})
	w.ok(err)
	w.fails(errs[0], chat.ErrConflict)
	w.ok(errs[1])
	w.fails(errs[2], chat.ErrConflict)
	got, err := w.ReadProfiles(w.ctx, []string{"bob", "absent", "alice"})
	w.ok(err)
	w.equal(got, []profiles.Stored{{Version: versions[1], Text: "b"}, {}, {Version: second, Text: `{"name":"b"}`}})
	own, err := w.ReadProfile(w.ctx, "alice")
	w.ok(err)
	w.equal(own, profiles.Stored{Version: second, Text: `{"name":"b"}`, Settings: `"s"`})
	w.putProfile(profiles.Write{User: "alice", Stored: profiles.Stored{Version: second, Text: "{}"}, WithSettings: true})
	own, err = w.ReadProfile(w.ctx, "alice")
	w.ok(err)
	w.equal(own.Settings, "")
}

func testAvatars(w *fixture) {
	first, second := w.NewAvatarID("alice"), w.NewAvatarID("alice")
	if first == second || !chat.ValidID(first) {
		w.Errorf("got the ids %s and %s", first, second)
	}
	png := profiles.Avatar{Type: "image/png", Content: []byte("\x89PNG\r\n\x00\xff")}
	version := w.putProfile(profiles.Write{User: "alice", Stored: profiles.Stored{Text: "{}"}, AvatarID: first, Avatar: &png})
	got, err := w.ReadAvatar(w.ctx, first)
	w.ok(err)
	w.equal(got, png)
	version = w.putProfile(profiles.Write{User: "alice", Stored: profiles.Stored{Version: version, Text: "{}"}, AvatarID: first})
	got, err = w.ReadAvatar(w.ctx, first)
	w.ok(err)
	w.equal(got, png)
	_, errs, err := w.PutProfiles(w.ctx, []profiles.Write{{User: "alice", Stored: profiles.Stored{Text: "{}"}, AvatarID: second, Avatar: &png}})
	w.ok(err)
	w.fails(errs[0], chat.ErrConflict)
	_, err = w.ReadAvatar(w.ctx, first)
	w.ok(err)
	jpeg := profiles.Avatar{Type: "image/jpeg", Content: []byte("\xff\xd8")}
	version = w.putProfile(profiles.Write{User: "alice", Stored: profiles.Stored{Version: version, Text: "{}"}, AvatarID: second, Avatar: &jpeg})
	got, err = w.ReadAvatar(w.ctx, second)
	w.ok(err)
	w.equal(got, jpeg)
	none := func(id string) {
		w.Helper()
		_, err := w.ReadAvatar(w.ctx, id)
		w.fails(err, chat.ErrNotFound)
	}
	none(first)
	none("absent")
	none("absent-0")
	none(second + "x")
	version = w.putProfile(profiles.Write{User: "alice", Stored: profiles.Stored{Version: version, Text: "{}"}})
	none(second)
	third := w.NewAvatarID("alice")
	w.putProfile(profiles.Write{User: "alice", Stored: profiles.Stored{Version: version, Text: "{}"}, AvatarID: third, Avatar: &png})
	// An id from a store with other partitions leads astray.
	astray := third[:len(third)-1] + "7"
	w.putProfile(profiles.Write{User: "bob", Stored: profiles.Stored{Text: "{}"}, AvatarID: astray, Avatar: &png})
	_, err = w.ReadAvatar(w.ctx, astray)
	w.ok(err)
	_, err = w.ErasePerson(w.ctx, "alice")
	w.ok(err)
	none(third)
	left, err := w.Client().Exists(w.ctx, w.userKey("alice", "avatar")).Result()
	w.ok(err)
	w.equal(left, int64(0))
}

func testPublishChanges(w *fixture) {
	w.ok(w.PublishChanges(w.ctx, "things", []string{"a", "b"}))
	first := w.changes("things", 0)
	w.equal(len(first.Rows), 0)
	w.ok(w.PublishChanges(w.ctx, "things", []string{"b", "c"}))
	page := w.changes("things", first.Now)
	w.equal(page.Rows, []table.Row{{ID: "b", Version: page.Now}, {ID: "c", Version: page.Now}})
	w.equal(page.Forgotten, int64(0))
	for some := range 11 {
		ids := make([]string, 500)
		for i := range ids {
			ids[i] = fmt.Sprint("id", some*500+i)
		}
		w.ok(w.PublishChanges(w.ctx, "things", ids))
	}
	if last := w.changes("things", first.Now); last.Forgotten <= page.Now || last.Forgotten >= last.Now {
		w.Errorf("forgotten up to %d, want from above %d to below %d", last.Forgotten, page.Now, last.Now)
	}
}

func testKnownUsers(w *fixture) {
	w.ok(w.Know(w.ctx, "alice"))
	w.putProfile(profiles.Write{User: "bob", Stored: profiles.Stored{Text: "{}"}})
	known, err := w.KnownUsers(w.ctx, []string{"carl", "bob", "alice"})
	w.ok(err)
	w.equal(known, []bool{false, true, true})
	w.group("g", []string{"bob"})
	in, err := w.AreMembers(w.ctx, []profiles.Membership{{Group: "g", User: "alice"}, {Group: "g", User: "carl"}, {Group: "h", User: "alice"}, {Group: "g", User: "bob"}})
	w.ok(err)
	w.equal(in, []bool{true, false, false, true})
}

func testAcquaintances(w *fixture) {
	w.ok(w.AddUserGroups(w.ctx, []string{"alice", "bob"}, chat.UserGroup{Group: "g"}))
	w.put(item("alice", "carl", "k"))
	w.put(item("dora", "alice", "k"))
	own, others, err := w.Acquaintances(w.ctx, "alice", []string{"bob", "carl", "dora", "eve"})
	w.ok(err)
	w.equal(own, []string{"g"})
	w.equal(others, []profiles.Acquaintance{{Groups: []string{"g"}}, {Groups: []string{}, Wrote: true}, {Groups: []string{}, Wrote: true}, {Groups: []string{}}})
}

func testLastSeen(w *fixture) {
	w.ok(w.Arrive(w.ctx, "node", []string{"alice"}, time.Minute))
	seen, err := w.LastSeen(w.ctx, []string{"bob", "alice"})
	w.ok(err)
	if seen[0] != 0 || time.Since(time.UnixMilli(seen[1])) > time.Minute {
		w.Errorf("got %v", seen)
	}
	many := map[string]int64{"stranger": 1}
	for i := range 600 { // more than one step takes
		user := fmt.Sprintf("u%d", i)
		w.ok(w.Know(w.ctx, user))
		many[user] = int64(1000 + i)
	}
	w.ok(w.SawUsers(w.ctx, many))
	w.ok(w.SawUsers(w.ctx, map[string]int64{"u0": 500, "u1": 5000}))
	seen, err = w.LastSeen(w.ctx, []string{"u0", "u1", "u599", "stranger"})
	w.ok(err)
	w.equal(seen, []int64{1000, 5000, 1599, 0}) // the latest counts
}

func testEraseProfile(w *fixture) {
	more, err := w.ErasePerson(w.ctx, "alice")
	w.ok(err)
	w.equal(more, false)
	versions, err := w.Versions(w.ctx)
	w.ok(err)
	w.equal(versions, map[string]int64{}) // nobody has one, and nobody is told
	w.putProfile(profiles.Write{User: "alice", Stored: profiles.Stored{Text: "{}", Settings: "1"}, WithSettings: true, Words: []string{"alice"}})
	w.ok(w.PublishChanges(w.ctx, profiles.TableName, []string{"alice"}))
	before := w.changes(profiles.TableName, 0).Now
	_, err = w.ErasePerson(w.ctx, "alice")
	w.ok(err)
	gone, err := w.ReadProfile(w.ctx, "alice")
	w.ok(err)
	w.equal(gone, profiles.Stored{})
	w.equal(w.names(), map[string]bool{})
	page := w.changes(profiles.TableName, before)
	w.equal(page.Rows, []table.Row{{ID: "alice", Version: page.Now}})
}

func testFindUsers(w *fixture) {
	w.ok(w.Know(w.ctx, "Anna"))
	w.ok(w.Know(w.ctx, "ann"))
	w.putProfile(profiles.Write{User: "u1", Stored: profiles.Stored{Text: "{}"}, Words: []string{"anna b", "b", "u1"}})
	w.putProfile(profiles.Write{User: "u2", Stored: profiles.Stored{Text: "{}"}, Words: []string{"ann", "u2"}})
	find := func(folded, exact, after string, limit int) []profiles.Found {
		w.Helper()
		found, err := w.FindUsers(w.ctx, folded, exact, after, limit)
		w.ok(err)
		return found
	}
	bare, one, two := profiles.Found{Word: "ann", User: "ann", Bare: true}, profiles.Found{Word: "anna b", User: "u1"}, profiles.Found{Word: "ann", User: "u2"}
	w.equal(find("ann", "ann", "", 10), []profiles.Found{bare, two, one})
	w.equal(find("ann", "Ann", "", 10), []profiles.Found{{Word: "Anna", User: "Anna", Bare: true}, two, one})
	w.equal(find("ann", "ann", "", 2), []profiles.Found{bare, two})
	w.equal(find("ann", "ann", bare.Key(), 1), []profiles.Found{two})
	w.equal(find("ann", "ann", two.Key(), 10), []profiles.Found{one})
	w.equal(len(find("ann", "ann", one.Key(), 10)), 0)
}
