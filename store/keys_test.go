package store

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/store/layout"
)

// anyID makes ids of all characters, and ids that look like parts of keys and begin alike.
var anyID = rapid.OneOf(
	rapid.StringMatching(`[A-Za-z0-9_@+|:-][A-Za-z0-9._@+|:-]{0,127}`),
	rapid.StringMatching(`[ax]:{0,2}(by|at|sent|meta|inbox|inbox:(by|sent)|erasing|id)?:{0,2}[ax:]{0,2}`),
)

// allKeys names every key and channel that is built from a group, or from a user and another user, with the partition.
func allKeys(k keyspace, group, user, other string) map[string]string {
	g, u := k.group(group), k.user(user)
	keys := map[string]string{
		"g " + group + " channel": g.channel(), "u " + user + " channel": u.channel(),
		"u " + user + " inbox_sent " + other: u.inboxSent(other), "u " + user + " inbox_by " + other: u.inboxBy(other),
		"u " + user + " inbox_mentions " + other: u.inboxMentions(other),
		"g " + group + " sent " + user:           g.sent(user), "g " + group + " by " + user: g.by(user),
		"g " + group + " at " + user: g.at(user),
	}
	for name, key := range groupNames.Keys {
		if partNames.Keys[name] == nil {
			keys["g "+group+" "+name] = key(g)
		}
	}
	for name, key := range userNames.Keys {
		if partNames.Keys[name] == nil {
			keys["u "+user+" "+name] = key(u)
		}
	}
	for name, key := range partNames.Keys {
		keys[fmt.Sprintf("p %d %s", g.number, name)] = key(g.partKeys)
	}
	return keys
}

// TestKeysAreInjective: no two things share a key, whatever ids are chosen, and all keys of one group or user carry the
// one tag of its partition.
func TestKeysAreInjective(t *testing.T) { rapid.Check(t, keysAreInjective) }

func FuzzKeys(f *testing.F) { f.Fuzz(rapid.MakeFuzz(keysAreInjective)) }

func keysAreInjective(t *rapid.T) {
	k := newKeyspace("chat", rapid.IntRange(1, 200).Draw(t, "partitions"))
	found := map[string]string{}
	for range 3 {
		group, user, other := anyID.Draw(t, "group"), anyID.Draw(t, "user"), anyID.Draw(t, "other")
		for what, key := range allKeys(k, group, user, other) {
			if before, ok := found[key]; ok && before != what {
				t.Fatalf("%s and %s are both %s", before, what, key)
			}
			found[key] = what
			tag := k.home(group).base
			if strings.HasPrefix(what, "u ") {
				tag = k.home(user).base
			}
			if !strings.HasPrefix(key, tag) || strings.Count(key, "{") != 1 || strings.Count(key, "}") != 1 {
				t.Fatalf("%s is %s, not under %s", what, key, tag)
			}
		}
		if g, u, ok := k.followed(k.group(group).channel()); g != group || u != "" || !ok {
			t.Fatalf("the channel of %s is read as of %q, %q", group, g, u)
		}
		if g, u, ok := k.followed(k.user(user).channel()); g != "" || u != user || !ok {
			t.Fatalf("the channel of %s is read as of %q, %q", user, g, u)
		}
		if g, _, ok := k.followed(k.group(group).by(user)); ok {
			t.Fatalf("a key of %s and %s is read as the channel of %s", group, user, g)
		}
		s := Schedules{base: &base{keys: k}}
		for _, plan := range []schedule.Plan{{Owner: other, Group: group}, {Owner: other, User: user}} {
			id, again := s.scheduleID(plan, "key"), s.scheduleID(plan, "")
			keys, ok := k.schedule(id)
			if !ok || keys.partKeys != k.home(target(plan)) || !strings.HasPrefix(keys.schedule(), keys.base+"s:") || found[keys.schedule()] != "" {
				t.Fatalf("the schedule %s is at %s", id, keys.schedule())
			}
			if id == again || !chat.ValidID(id) || !chat.ValidID(again) || id != s.scheduleID(plan, "key") {
				t.Fatalf("got ids %q and %q", id, again)
			}
		}
		for _, key := range k.group(group).enqueue {
			if !strings.HasPrefix(key, k.home(group).base+"q:") {
				t.Fatalf("%s is a key of the queue of another partition", key)
			}
		}
	}
}

var (
	built   = regexp.MustCompile(`(?m)^func \(\w \*?(\w+)Keys\) [^{}]*\{\s*return \w\.base \+ "([^"]*)"( \+ layout\.KeyID\(\w+\))?\s*\}`)
	letters = map[string]string{"part": "", "group": "g:<id>", "user": "u:<id>", "erasure": "e:<id>"}
)

// TestKeysAreListed: each method that builds a key builds one that package layout lists.
func TestKeysAreListed(t *testing.T) {
	source, err := os.ReadFile("keys.go")
	if err != nil {
		t.Fatal(err)
	}
	methods := built.FindAllStringSubmatch(string(source), -1)
	for _, m := range methods {
		want := letters[m[1]] + m[2]
		if m[3] != "" {
			want += "<user>"
		}
		if !slices.ContainsFunc(layout.Keys, func(k layout.Key) bool { return k.Pattern == want }) {
			t.Errorf("package layout does not list %s", want)
		}
	}
	if len(methods) < 40 {
		t.Errorf("keys.go has only %d of these methods", len(methods))
	}
}

func FuzzDecodeMessage(f *testing.F) {
	for _, seed := range []string{`1 abcdef - {"id":1,"x":1}`, `12 a x {"id":12,"body":"a b"}`, `3 m 4,5 {"id":3,"b":""}`,
		"", "1", "1 a", "1 a - {}", "-1 a - {\"id\":-1}", "9223372036854775808 a - {}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, member string) {
		m, err := decodeMessage(member)
		if err != nil {
			return
		}
		if m.ID < 1 || m.Mark == "" || len(m.JSON) == 0 {
			t.Fatalf("got %+v of %q", m, member)
		}
		again, err := decodeMessage(encodeMessage(m))
		if err != nil || cmp.Diff(m, again) != "" {
			t.Fatalf("got %+v and %v, want %+v", again, err, m)
		}
	})
}

func FuzzDecodeSignal(f *testing.F) {
	k := newKeyspace("chat", 4)
	for _, payload := range []string{"m e1\n1 abcdef - {\"id\":1,\"x\":1}", "m e\n1 a - {\"id\":1}\n2 b x {\"id\":2}", "c bob 1 2", "t bob",
		"d e1", "i", "f g {\"rev\":1}", "f g", "j g", "l g", "", "m", "c bob x"} {
		f.Add(k.group("g").channel(), payload)
		f.Add(k.user("bob").channel(), payload)
	}
	f.Fuzz(func(t *testing.T, channel, payload string) {
		sig, ok := k.decodeSignal(channel, payload)
		if !ok {
			return
		}
		if sig.Kind < live.SignalMessage || sig.Kind > live.SignalDraft {
			t.Fatalf("got %+v of %q", sig, payload)
		}
		if sig.Kind == live.SignalMessage && (sig.Epoch == "" || sig.Message.ID < 1) {
			t.Fatalf("got a message without epoch or id of %q", payload)
		}
	})
}

// TestEntriesRoundTrip: a message that the service makes is read back as it was.
func TestEntriesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.String().Filter(utf8.ValidString).Draw(t, "body")
		text, err := json.Marshal(chat.Entry{ID: 7, Group: "g", From: "bob", Content: chat.Content{Kind: chat.Text, Body: &body}})
		if err != nil {
			t.Fatal(err)
		}
		m := chat.Message{ID: 7, Mark: "abcdef", Edits: rapid.SliceOf(rapid.Int64Range(1, 1<<53)).Draw(t, "edits"), JSON: text}
		if len(m.Edits) == 0 {
			m.Edits = nil
		}
		got, err := decodeMessage(encodeMessage(m))
		if err != nil || cmp.Diff(m, got) != "" {
			t.Fatalf("got %+v and %v, want %+v", got, err, m)
		}
		if strings.ContainsRune(encodeMessage(m), '\n') {
			t.Fatal("a stored message holds a line feed: it would divide a signal")
		}
	})
}

// encodeMessage is the inverse of decodeMessage. The scripts write messages, so only tests need it.
func encodeMessage(m chat.Message) string {
	return strconv.FormatInt(m.ID, 10) + " " + m.Mark + " " + encodeEdits(m.Edits) + " " + string(m.JSON)
}
