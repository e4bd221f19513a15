package live_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
)

// What a call that names foreignGroups groups of others may cost, a tenth of what one command for each would.
const (
	foreignGroups   = 9999
	foreignCallsMax = foreignGroups / 10
	foreignBytesMax = 100 << 10
)

// foreign makes groups that bob is not in, and returns foreignGroups names, of which they are the first.
func (l *node) foreign(t *testing.T) []string {
	t.Helper()
	names := make([]string, foreignGroups)
	for i := range names {
		names[i] = fmt.Sprint("foreign", i)
	}
	for _, g := range names[:100] {
		l.group(t, g, "ann", "carl")
		l.say(t, g, "ann", strings.Repeat("x", 10_000))
	}
	return names
}

// costs runs do and checks what it cost: commands, bytes, and what the node listens to.
func (l *node) costs(t *testing.T, what string, do func()) {
	t.Helper()
	l.redis.Do("CONFIG", "RESETSTAT")
	do()
	commands := int64(0)
	for name, n := range l.redis.Calls() {
		if name != "config" && name != "ping" {
			commands += n
		}
	}
	bytes := l.redis.Stat("total_net_input_bytes") + l.redis.Stat("total_net_output_bytes")
	t.Logf("%s: %d commands, %d bytes", what, commands, bytes)
	if commands > foreignCallsMax || bytes > foreignBytesMax {
		t.Errorf("%s: %d commands and %d bytes, want at most %d and %d", what, commands, bytes, foreignCallsMax, foreignBytesMax)
	}
	channels, _ := l.redis.Do("PUBSUB", "CHANNELS").([]any)
	for _, c := range channels {
		if name, _ := c.(string); strings.Contains(name, "foreign") {
			t.Fatalf("%s: the node listens to %s", what, name)
		}
	}
}

// Naming thousands of groups of others costs no more than naming a few: none is followed, most are not even looked at.
func TestForeignGroupsCostNothing(t *testing.T) {
	l := startLive(t, signalsOnly)
	l.group(t, "mine", "bob")
	last := l.say(t, "mine", "bob", "hi")
	names := l.foreign(t)
	after, acks := map[string]string{"mine": "0"}, map[string]chat.Position{"mine": {Set: true, ID: last}}
	for _, g := range names {
		after[g], acks[g] = "1", chat.Position{Set: true, ID: 1}
	}
	slices.Sort(names)
	bob := chat.Caller{User: "bob"}
	for name, req := range map[string]live.SyncRequest{
		"after": {After: after}, "after, with a wait": {After: after, WaitS: 20},
		"acks": {Ack: acks, After: map[string]string{"mine": "0"}}, "acks, with a wait": {Ack: acks, After: map[string]string{"mine": "0"}, WaitS: 20},
	} {
		l.costs(t, name, func() {
			a, err := l.Sync(t.Context(), bob, req)
			if err != nil {
				t.Fatal(err)
			}
			if len(a.Groups) != 1 || a.Groups[0].Group != "mine" || a.Groups[0].To != last || len(a.Errors) != 0 {
				t.Errorf("%s: got %d groups and %d errors, want the one group", name, len(a.Groups), len(a.Errors))
			}
			if !slices.Equal(a.Left, names) {
				t.Errorf("%s: %d groups are left, want the %d that were named", name, len(a.Left), len(names))
			}
		})
	}
	l.costs(t, "hello", func() {
		f := l.listen(t, "bob", after)
		left := map[string]bool{}
		for len(left) < len(names) {
			if e := f.next(); e.Left != "" {
				left[e.Left] = true
			}
		}
		f.reach("mine", last)
		if groups := f.Welcome().Groups; len(groups) != 1 || left["mine"] {
			t.Errorf("hello: welcome to %d groups, want the one", len(groups))
		}
	})
}

// An index that lost its end hides nothing that the client names, however much that is.
func TestLostIndexHidesNothing(t *testing.T) {
	l := startLive(t, signalsOnly)
	after := map[string]string{}
	const groups = 3 * 32
	for i := range groups {
		g := fmt.Sprint("g", i)
		l.group(t, g, "ann", "bob")
		after[g] = "0"
		if i > 0 { // one is still listed
			if err := l.store.DropUserGroup(t.Context(), "bob", g); err != nil {
				t.Fatal(err)
			}
		}
	}
	after["none"] = "0"
	a, err := l.Sync(t.Context(), chat.Caller{User: "bob"}, live.SyncRequest{After: after, Limit: 1000})
	if err != nil || len(a.Groups) != groups || !slices.Equal(a.Left, []string{"none"}) {
		t.Errorf("sync: got %d groups, %q left, %v; want %d and one that is not there", len(a.Groups), a.Left, err, groups)
	}
	f := l.listen(t, "bob", after)
	for i := range groups {
		f.reach(fmt.Sprint("g", i), 2)
	}
}
