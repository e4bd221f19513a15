package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/quorum"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store/conn"
	gocmp "github.com/google/go-cmp/cmp"
)

// twoPaths are two stores that get the same steps: one appends plain messages as they come, several in a call, the other each by a
// call of its own.
type twoPaths struct {
	*testing.T
	rand            *rand.Rand
	client          queue.Redis
	together, alone *Store
	sends           int
	notices         int
	group           string
	keys            []string
}

// TestJoinedAppendsLikeAny: whatever happens in between, messages that share calls leave the same keys behind as if each
// had come alone, and get the same answers.
func TestJoinedAppendsLikeAny(t *testing.T) {
	server := redistest.Start(t)
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			open := func(prefix string) *Store {
				limits := chat.DefaultLimits()
				limits.KeysMax = keysMax
				s, err := Open(t.Context(), Options{URL: server.URL(), Prefix: fmt.Sprint(prefix, seed), Limits: limits})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Close() })
				return s
			}
			p := &twoPaths{T: t, rand: rand.New(rand.NewPCG(seed, 1)), together: open("together"), alone: open("alone"), group: "g"}
			p.client = p.together.Client()
			p.poke("HDEL", "layout", "life") // random
			p.both(func(ctx context.Context, s *Store) error {
				return s.CreateGroup(ctx, chat.NewGroup{Group: chat.Group{ID: "g", Name: "G", CreatedBy: "alice", CreatedAt: chat.TimeMs(1),
					Epoch: "e", Keep: 4, BacklogMax: backlog, Post: chat.PostMembers, History: true}, Members: []string{"bob"},
					Notices: []chat.NoticeEntry{{Mark: "created", Rest: []byte(`"a":1}`)}, {Mark: "joined", Rest: []byte(`"a":1}`)}}})
			})
			for i := range 200 {
				if p.step(); i%8 == 0 {
					p.compare()
				}
			}
			p.compare()
		})
	}
}

func (p *twoPaths) pick(of ...string) string { return of[p.rand.IntN(len(of))] }

const (
	backlog = 40 // backlog_max of the group
	keysMax = 5  // retry keys of a sender that are certain to be kept
)

// both does a step in both stores, which has to come to the same.
func (p *twoPaths) both(step func(context.Context, *Store) error) {
	p.Helper()
	one, other := step(p.Context(), p.together), step(p.Context(), p.alone)
	if fmt.Sprint(one) != fmt.Sprint(other) {
		p.Fatalf("got %v and %v", one, other)
	}
}

// poke runs a command for both stores, on the key of this name.
func (p *twoPaths) poke(command, key string, args ...any) {
	p.both(func(ctx context.Context, s *Store) error {
		return s.conn.Client().Do(ctx, append([]any{command, s.keys.prefix + ":{p00}:" + key}, args...)...).Err()
	})
}

// message makes a plain message, at times with a key that is known.
func (p *twoPaths) message() chat.Append {
	p.sends++
	a := chat.Append{Group: "g", From: p.pick("alice", "alice", "bob", "carl", "dora"), Kind: chat.Text, Mark: fmt.Sprintf("%s%05d", p.pick("A", "m", "m", "m"), p.sends),
		Rest: fmt.Appendf(nil, `"n":%d}`, p.sends), SentAtMs: int64(1000 + p.sends), Content: "c"}
	if p.rand.IntN(3) == 0 {
		a.Kind = chat.Data
	}
	switch p.rand.IntN(6) {
	case 0, 1, 2:
		a.Key = fmt.Sprint("key", p.sends)
		p.keys = append(p.keys, a.Key)
	case 3:
		if len(p.keys) > 0 {
			a.Key = p.keys[max(0, len(p.keys)-1-p.rand.IntN(keysMax))]
			a.Content = p.pick("c", "c", "c", "d")
		}
	}
	return a
}

// send has some messages appended: together in the one store, one by one in the other.
func (p *twoPaths) send(list []chat.Append) {
	p.Helper()
	ctx := p.Context()
	together := make([]string, len(list))
	if len(list) == 1 {
		done, err := p.together.Append(ctx, list[0])
		together[0] = fmt.Sprint(done, err)
	} else {
		pointers := make([]*chat.Append, len(list))
		for i := range list {
			pointers[i] = &list[i]
		}
		for i, out := range p.together.appendTogether(ctx, serverOf(p.T, p.together), pointers) {
			together[i] = fmt.Sprint(out.done, out.err)
		}
	}
	for i, a := range list {
		done, err := p.alone.appendAlone(ctx, a)
		if got, want := together[i], fmt.Sprint(done, err); got != want {
			p.Fatalf("message %d of %d, %+v:\ngot  %s\nwant %s", i, len(list), a, got, want)
		}
	}
	if len(list) > 1 { // their trims had other ends of the log before them
		p.both(func(ctx context.Context, s *Store) error { _, err := s.Trim(ctx, "g"); return err })
	}
}

func (p *twoPaths) step() {
	p.Helper()
	notice := func() chat.NoticeEntry {
		p.notices++
		return chat.NoticeEntry{Mark: fmt.Sprintf("n%05d", p.notices), Rest: []byte(`"notice":1}`)}
	}
	switch p.rand.IntN(16) {
	default:
		p.send([]chat.Append{p.message()})
	case 0:
		var list []chat.Append
		plain := p.message()
		for range 2 + p.rand.IntN(80) {
			if m := p.message(); p.rand.IntN(2) == 0 {
				plain = m
			} else {
				m.From, plain = plain.From, m
			}
			list = append(list, plain)
		}
		p.send(list)
	case 1, 2:
		user, read := p.pick("alice", "bob", "carl"), p.rand.IntN(2) == 0
		at, _ := p.client.Get(p.Context(), p.alone.keys.group("g").lastID()).Int64()
		if p.rand.IntN(2) == 0 {
			at = p.rand.Int64N(at + 2)
		}
		p.both(func(ctx context.Context, s *Store) error {
			c, err := s.Ack(ctx, "g", user, chat.At(at), read, "")
			return errors.Join(err, fmt.Errorf("%+v", c))
		})
	case 3:
		m := chat.Membership{Group: "g", User: p.pick("bob", "carl"), By: chat.Caller{User: "alice"}, AtMs: 2, Notice: notice()}
		if p.rand.IntN(2) == 0 {
			p.both(func(ctx context.Context, s *Store) error { _, _, err := s.Join(ctx, m); return err })
		} else {
			p.both(func(ctx context.Context, s *Store) error { _, err := s.Leave(ctx, m); return err })
		}
	case 4:
		reaction := p.message()
		reaction.Kind, reaction.Target, reaction.Emoji, reaction.From = chat.Reaction, p.rand.Int64N(int64(p.sends+3)), "+", "alice"
		p.both(func(ctx context.Context, s *Store) error { _, err := s.Append(ctx, reaction); return err })
	case 5:
		p.poke("HSET", "wants", p.pick("notify", "archive"), 1500)
	case 6:
		p.poke("HSET", "wants", "events", p.pick("1 a", "2 b"))
	case 7:
		p.poke("DEL", "wants")
	case 8, 9:
		p.poke("DEL", "q:core:unique") // every task has begun
	case 10:
		change := chat.GroupChange{Post: new(chat.PostAdmins)}
		if p.rand.IntN(2) == 0 {
			change = chat.GroupChange{Overflow: new(chat.OverflowBlock), BacklogMax: new(int64(8))}
		}
		p.settings(change, notice())
		for range 3 {
			p.send([]chat.Append{p.message()})
		}
		p.settings(chat.GroupChange{Post: new(chat.PostMembers), Overflow: new(chat.OverflowDrop), BacklogMax: new(int64(backlog))}, notice())
	}
}

func (p *twoPaths) settings(change chat.GroupChange, n chat.NoticeEntry) {
	p.both(func(ctx context.Context, s *Store) error {
		return s.UpdateGroup(ctx, chat.Caller{User: "alice"}, "g", nil, change, []chat.NoticeEntry{n}, 1)
	})
}

// incidental is what may differ: times of the server, ids that are random, those of entries of the audit with their times among them, and ids of tasks that name the last entry of a step.
var incidental = regexp.MustCompile(`\b1[6-9]\d{11}\b|\b[0-9a-f]{32} e \{"at":"[^"]*"|p00-[A-Z2-7]{26}|p00-[a-z]+:g:e:\d+`)

// compare compares all keys of the two stores.
func (p *twoPaths) compare() {
	p.Helper()
	read := func(prefix string) map[string][]string {
		all := map[string][]string{}
		for _, key := range p.client.Keys(p.Context(), prefix+":*").Val() {
			lines := p.contents(key)
			for i, line := range lines {
				lines[i] = strings.ReplaceAll(incidental.ReplaceAllString(line, "..."), prefix, "PREFIX")
			}
			if strings.Contains(key, ":by:") {
				lines = slices.DeleteFunc(lines, p.notCounted)
			}
			if slices.Sort(lines); strings.Contains(key, ":sent:") {
				lines = newestKeys(lines)
			}
			all[strings.TrimPrefix(key, prefix)] = lines
		}
		return all
	}
	together, alone := read(p.together.keys.prefix), read(p.alone.keys.prefix)
	if len(alone) < 6 {
		p.Fatalf("got few keys: %v", alone)
	}
	if !reflect.DeepEqual(alone, together) {
		p.Fatalf("one by one leaves (-), together leaves (+):\n%s", gocmp.Diff(alone, together))
	}
}

// notCounted tells of an id in by, which may have been pruned at another time, whether it is no longer counted.
func (p *twoPaths) notCounted(line string) bool {
	k := p.alone.keys.group("g")
	last, _ := p.client.Get(p.Context(), k.lastID()).Int64()
	id, _, _ := strings.Cut(line, " ")
	return number(id) <= max(last-backlog, number(p.client.HGet(p.Context(), k.meta(), "floor").Val()))
}

// newestKeys drops the retry keys that may have been dropped at another time.
func newestKeys(lines []string) []string {
	id := func(line string) int64 { return number(strings.Fields(line)[2]) }
	slices.SortFunc(lines, func(a, b string) int { return cmp.Compare(id(a), id(b)) })
	return lines[max(0, len(lines)-keysMax):]
}

// contents reads a key, whatever it holds.
func (p *twoPaths) contents(key string) (lines []string) {
	ctx := p.Context()
	switch p.client.Type(ctx, key).Val() {
	case "hash":
		for field, value := range p.client.HGetAll(ctx, key).Val() {
			lines = append(lines, field+" = "+value)
		}
	case "zset":
		for _, z := range p.client.ZRangeWithScores(ctx, key, 0, -1).Val() {
			lines = append(lines, fmt.Sprintf("%v at %.0f", z.Member, z.Score))
		}
	case "list":
		lines = p.client.LRange(ctx, key, 0, -1).Val()
	default:
		lines = []string{p.client.Get(ctx, key).Val()}
	}
	return lines
}

// TestPlainPrunes: what a sender's own ids are counted by stays within backlog_max, and a sender is known from the first message on.
func TestPlainPrunes(t *testing.T) {
	server, s := openWithGroup(t, 10)
	const senders, by = "p:{p00}:g:g:senders", "p:{p00}:g:g:by:alice"
	send := func(mark string) {
		t.Helper()
		a := chat.Append{Group: "g", From: "alice", Kind: chat.Text, Mark: mark, Rest: []byte(`"a":1}`), SentAtMs: 5}
		if _, err := s.Append(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	for range 30 {
		send("bbbbbb")
	}
	if got := server.Do("ZCARD", by); got != int64(30) {
		t.Errorf("got %v ids before one message of 64 prunes them, want 30", got)
	}
	server.Do("ZADD", senders, strconv.FormatInt(time.Now().Add(-time.Hour).UnixMilli(), 10), "alice")
	send("Abbbbb")
	if got := server.Do("ZCARD", by); got != int64(10) {
		t.Errorf("got %v ids, want the 10 that are counted", got)
	}
	if got := number(fmt.Sprint(server.Do("ZSCORE", senders, "alice"))); got < time.Now().Add(-time.Minute).UnixMilli() {
		t.Errorf("the sender was last noted at %d ms", got)
	}
}

// TestPlainSendsAreLean counts the commands of a send, so that they do not creep back. docs/costs.md has the same figures.
func TestPlainSendsAreLean(t *testing.T) {
	server, s := openWithGroup(t, 10, "bob")
	last := int64(2)
	send := func(from, key string) {
		t.Helper()
		a := chat.Append{Group: "g", From: from, Kind: chat.Text, Mark: "bbbbbb", Rest: []byte(`"a":1}`), SentAtMs: 5, Key: key, Content: "c"}
		if _, err := s.Append(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		last++
	}
	send("bob", "")
	send("alice", "")
	runs := func(name string, want int64, does func()) {
		t.Helper()
		var got int64
		stats := commandsOf(server, does)
		for _, n := range stats {
			got += n
		}
		if got != want {
			t.Errorf("%s: a send runs %d commands, want %d:\n%v", name, got, want, stats)
		}
	}
	for _, c := range []struct {
		name, from, key string
		seen, read      bool // whether the sender's cursors are at the end, and move along
		want            int64
	}{
		{"who is behind", "alice", "", false, false, 8},
		{"who is behind, with a key", "alice", "k1", false, false, 9},
		{"who has seen everything", "bob", "", true, false, 10},
		{"who has read everything", "bob", "", true, true, 11},
		{"who has read everything, with a key", "bob", "k2", true, true, 12},
	} {
		if c.seen {
			if _, err := s.Ack(t.Context(), "g", "bob", chat.At(last), c.read, ""); err != nil {
				t.Fatal(err)
			}
		}
		runs(c.name, c.want, func() { send(c.from, c.key) })
	}

	// A reply in a thread runs seven more than a plain send of who is behind, one of them because the group hides its history.
	body := "x"
	threaded := func(from string, root int64) int64 {
		t.Helper()
		a := chat.NewAppend(chat.Entry{Group: "g", From: from, Content: chat.Content{Kind: chat.Text, Body: &body, Thread: root}}, 5)
		a.Mark = "bbbbbb"
		done, err := s.Append(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		return done.ID
	}
	root := threaded("bob", 0)
	for _, c := range []struct {
		name string
		from string
		want int64
	}{
		{"the first reply in a thread", "alice", 26},
		{"a reply of who has read the thread", "alice", 15},
		{"a reply of who has not", "bob", 15},
	} {
		runs(c.name, c.want, func() { threaded(c.from, root) })
	}
}

var commandCalls = regexp.MustCompile(`cmdstat_([^:]+):calls=(\d+)`)

// commandsOf counts the commands that a server runs meanwhile, in scripts and outside.
func commandsOf(server *redistest.Server, does func()) map[string]int64 {
	server.Do("CONFIG", "RESETSTAT")
	does()
	n := map[string]int64{}
	stats, _ := server.Do("INFO", "commandstats").(string)
	for _, found := range commandCalls.FindAllStringSubmatch(stats, -1) {
		if found[1] != "evalsha" && found[1] != "config|resetstat" {
			n[found[1]] = number(found[2])
		}
	}
	return n
}

// TestAcksWithoutQuorumsAreLean: an ack costs what it did before there were quorums, where none is open; and where one is, it walks over
// no members.
func TestAcksWithoutQuorumsAreLean(t *testing.T) {
	server, s := openWithGroup(t, 100, "bob", "carl")
	message := func() int64 {
		t.Helper()
		a := chat.Append{Group: "g", From: "alice", Kind: chat.Text, Mark: "bbbbbb", Rest: []byte(`"a":1}`), SentAtMs: 5}
		done, err := s.Append(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		return done.ID
	}
	ack := func(id int64) map[string]int64 {
		t.Helper()
		return commandsOf(server, func() {
			if _, err := s.Ack(t.Context(), "g", "bob", chat.At(id), true, ""); err != nil {
				t.Fatal(err)
			}
		})
	}
	ask := quorum.Quorum{Group: "g", Author: "alice", By: "alice", Need: quorum.Need{Count: 5}, Until: chat.TimeMs(time.Now().Add(time.Hour).UnixMilli())}
	for range 6 { // more than the group keeps, which carl has not seen
		ack(message())
	}
	without := ack(message())
	ask.ID = message()
	if _, err := s.PutQuorum(t.Context(), chat.Caller{User: "alice"}, ask); err != nil {
		t.Fatal(err)
	}
	with := ack(ask.ID)
	if with["zmscore"] > 0 || with["zrangebyscore"] > without["zrangebyscore"]+1 || with["hget"] > without["hget"]+1 {
		t.Errorf("an ack with an open quorum runs %v, and without %v", with, without)
	}
	if err := s.DropQuorum(t.Context(), chat.Caller{User: "alice"}, "g", ask.ID); err != nil {
		t.Fatal(err)
	}
	if after := ack(message()); !maps.Equal(after, without) {
		t.Errorf("an ack runs %v after a quorum, and %v before", after, without)
	}
	if n := without["hgetall"] + without["time"]; n > 0 {
		t.Errorf("an ack runs %v", without)
	}
}

// serverOf is the one server of a store.
func serverOf(t *testing.T, s *Store) conn.Server {
	t.Helper()
	all, err := s.conn.Masters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

// openWithGroup opens a store on a server of its own, with alice's group g of epoch e, which keeps 4 messages.
func openWithGroup(t *testing.T, backlogMax int64, members ...string) (*redistest.Server, *Store) {
	t.Helper()
	server := redistest.Start(t)
	s, err := Open(t.Context(), Options{URL: server.URL(), Prefix: "p"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	g := chat.NewGroup{Group: chat.Group{ID: "g", Name: "G", CreatedBy: "alice", CreatedAt: chat.TimeMs(1), Epoch: "e", Keep: 4,
		BacklogMax: backlogMax, Post: chat.PostMembers}, Members: members}
	for range 1 + (len(members)+chat.NoticeUsersMax-1)/chat.NoticeUsersMax {
		g.Notices = append(g.Notices, chat.NoticeEntry{Mark: "created", Rest: []byte(`"a":1}`)})
	}
	if err := s.CreateGroup(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	return server, s
}
