package store_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store"
)

// What only a real server shows: how it is opened, what it does to the scripts, and what a step costs.

func group(t *testing.T, s *store.Store, id string, keep, backlogMax int64) {
	t.Helper()
	err := s.CreateGroup(t.Context(), chat.NewGroup{Group: chat.Group{ID: id, Visibility: chat.Private, CreatedBy: "alice",
		CreatedAt: chat.TimeMs(1), Epoch: "e", Keep: keep, BacklogMax: backlogMax, Post: chat.PostMembers, History: true},
		Members: []string{"bob"}, Notices: []chat.NoticeEntry{notice("created"), notice("joined")}})
	if err != nil {
		t.Fatal(err)
	}
}

func notice(what string) chat.NoticeEntry {
	return chat.NoticeEntry{Mark: "aaaaaa", Rest: []byte(`"kind":"notice","notice":"` + what + `"}`)}
}

func greeting(group, from string) chat.Append {
	return chat.Append{Group: group, From: from, Kind: chat.Text, Mark: "bbbbbb", SentAtMs: 1,
		Rest: []byte(`"group":"` + group + `","from":"` + from + `","kind":"text","body":"hi"}`)}
}

func send(t *testing.T, s *store.Store, a chat.Append) chat.Appended {
	t.Helper()
	done, err := s.Append(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func TestOpenRefusesWhatCannotBeTheStore(t *testing.T) {
	server := redistest.Start(t)
	refused := func(o store.Options, want string) {
		t.Helper()
		s, err := store.Open(t.Context(), o)
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one about %q", err, want)
		}
	}
	open(t, store.Options{URL: server.URL(), Prefix: "four", Partitions: 4})
	refused(store.Options{URL: server.URL(), Prefix: "four", Partitions: 2}, "4 partitions")
	if got := open(t, store.Options{URL: server.URL(), Prefix: "four"}).Partitions(); got != 4 {
		t.Errorf("got %d partitions, want 4", got)
	}
	refused(store.Options{URL: server.URL(), Prefix: "four", Partitions: 2}, "set it to 4")
	client := redis.NewClient(&redis.Options{Addr: server.Addr, MaxRetries: -1})
	defer func() { _ = client.Close() }()
	if _, err := queue.CheckPartitions(t.Context(), client, "four", 3); !errors.Is(err, queue.ErrPartitions) {
		t.Errorf("the queue beside the store: got error %v", err)
	}
	if _, err := queue.CheckPartitions(t.Context(), client, "three", 3); err != nil {
		t.Error(err)
	}
	if got := open(t, store.Options{URL: server.URL(), Prefix: "three"}).Partitions(); got != 3 {
		t.Errorf("the store beside a queue: got %d partitions, want 3", got)
	}
	server.Do("HSET", "three:{p00}:layout", "tasks", "99")
	refused(store.Options{URL: server.URL(), Prefix: "three"}, `unknown layout of tasks: those under "three" have version 99, this engine knows`)
	server.Do("HSET", "four:{p00}:layout", "version", "2")
	refused(store.Options{URL: server.URL(), Prefix: "four"}, "layout is version 2, this chatd knows version 1: use the chatd that wrote it")
	server.Do("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
	refused(store.Options{URL: server.URL(), Prefix: "x"}, "allkeys-lru")
	server.Do("CONFIG", "SET", "maxmemory-policy", "noeviction")

	refused(store.Options{URL: strings.Replace(server.URL(), "redis://", "redis-cluster://", 1)}, "no databases")
	refused(store.Options{URL: "redis-cluster://" + server.Addr}, "cluster support disabled")
	refused(store.Options{URL: "http://localhost"}, "begins with")
	refused(store.Options{URL: "redis-sentinel://localhost:26379"}, "redis-sentinel://")
	refused(store.Options{URL: "redis://user:secret@local host"}, "redis://")
	refused(store.Options{URL: server.URL(), Prefix: "a{b"}, "prefix")
	refused(store.Options{URL: "redis://" + redistest.FreeAddr(t)}, "does not answer")
}

func TestOpenWhereConfigIsForbidden(t *testing.T) {
	server := redistest.Start(t, "--rename-command", "CONFIG", "")
	open(t, store.Options{URL: server.URL()})
}

func TestScriptsAreLoadedAgain(t *testing.T) {
	server := redistest.Start(t, "--appendfsync", "always")
	s := open(t, store.Options{URL: server.URL()})
	group(t, s, "g", 100, 1000)
	steps := map[string]func() error{
		"append": func() error { _, err := s.Append(t.Context(), greeting("g", "alice")); return err },
		"pull":   func() error { _, err := s.Pull(t.Context(), "bob", []chat.Pull{{Group: "g", Limit: 5}}); return err },
		"infos":  func() error { _, err := s.Infos(t.Context(), "bob", []string{"g", "h"}); return err },
		"index": func() error {
			return s.AddUserGroups(t.Context(), []string{"a", "b"}, chat.UserGroup{Group: "g", Seen: 1})
		},
		"replica": func() error {
			a := greeting("g", "alice")
			a.Durability = chat.DurabilityReplica
			_, err := s.Append(t.Context(), a)
			return err
		},
	}
	for name, step := range steps {
		server.Do("SCRIPT", "FLUSH")
		if err := step(); err != nil {
			t.Errorf("%s after SCRIPT FLUSH: %v", name, err)
		}
	}
	before := send(t, s, greeting("g", "alice"))
	server.Kill()
	if _, err := s.Append(t.Context(), greeting("g", "alice")); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("got error %v of a server that is gone, want unavailable", err)
	}
	server.Restart()
	returned := time.Now()
	after, err := s.Append(t.Context(), greeting("g", "alice"))
	for errors.Is(err, chat.ErrStoreAway) && time.Since(returned) < 10*time.Second {
		after, err = s.Append(t.Context(), greeting("g", "alice"))
	}
	if err != nil || after.ID != before.ID+1 {
		t.Errorf("got id %d, %v after a restart, want %d", after.ID, err, before.ID+1)
	}
}

func TestDurabilityIsSaidTruthfully(t *testing.T) {
	for fsync, want := range map[string]chat.Durability{"always": chat.DurabilityDisk, "everysec": chat.DurabilityMemory} {
		server := redistest.Start(t, "--appendfsync", fsync)
		s := open(t, store.Options{URL: server.URL()})
		group(t, s, "g", 100, 1000)
		a := greeting("g", "alice")
		a.Durability = chat.DurabilityDisk
		if got := send(t, s, a).Durability; got != want {
			t.Errorf("appendfsync %s: got %s, want %s", fsync, got, want)
		}
	}
	primary := redistest.Start(t)
	s := open(t, store.Options{URL: primary.URL()})
	group(t, s, "g", 100, 1000)
	startReplica(t, primary)
	for _, duplicate := range []bool{false, true} {
		a := greeting("g", "alice")
		a.Durability, a.Key, a.Content = chat.DurabilityReplica, "k", "c"
		if got := send(t, s, a); got.Durability != chat.DurabilityReplica || got.Duplicate != duplicate {
			t.Errorf("got %+v, want it on the replica", got)
		}
	}
}

func TestErrorsOfTheServer(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, store.Options{URL: server.URL(), Prefix: "p"})
	group(t, s, "g", 100, 1000)
	check := func(want error, what string) {
		t.Helper()
		if _, err := s.Append(t.Context(), greeting("g", "alice")); !errors.Is(err, want) {
			t.Errorf("%s: got error %v, want %v", what, err, want)
		}
	}
	server.Do("CONFIG", "SET", "maxmemory", "1")
	check(chat.ErrUnavailable, "out of memory")
	server.Do("CONFIG", "SET", "maxmemory", "0")
	server.Do("REPLICAOF", "127.0.0.1", "1")
	check(chat.ErrUnavailable, "a replica")
	server.Do("REPLICAOF", "NO", "ONE")
	check(nil, "a primary again")
	// As while it loads its data: the commands of a transaction are refused one by one, then the transaction.
	server.Do("ACL", "SETUSER", "default", "-zrangebyscore")
	if _, err := s.Pull(t.Context(), "bob", []chat.Pull{{Group: "g", Limit: 5}}); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("a transaction that is refused: got error %v, want unavailable", err)
	}
	server.Do("ACL", "SETUSER", "default", "+zrangebyscore")
	server.Do("RENAME", "p:{p00}:g:g:skip", "p:{p00}:saved")
	server.Do("SET", "p:{p00}:g:g:skip", "x")
	if _, err := s.Infos(t.Context(), "bob", []string{"g"}); chat.CodeOf(err) != chat.CodeInternal {
		t.Errorf("got error %v of a key of the wrong type, want internal", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := s.Append(ctx, greeting("g", "alice")); !errors.Is(err, chat.ErrUnavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v of a canceled call", err)
	}
}

// TestCosts shows by counting that a step costs the same however long the log is: as many commands inside it, and as
// many bytes answered.
func TestCosts(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, store.Options{URL: server.URL()})
	group(t, s, "g", 1_000_000, 1_000_000)
	fill := func(n int) {
		for range n {
			send(t, s, greeting("g", "alice"))
		}
	}
	type cost struct {
		calls string
		bytes int64
	}
	steps := []struct {
		name string
		do   func() error
	}{
		{"append", func() error { _, err := s.Append(t.Context(), greeting("g", "alice")); return err }},
		{"ack", func() error { _, err := s.Ack(t.Context(), "g", "bob", chat.At(1), true, ""); return err }},
		{"unread", func() error { _, err := s.Unread(t.Context(), "g", "bob", 1); return err }},
		{"infos", func() error { _, err := s.Infos(t.Context(), "bob", []string{"g"}); return err }},
		{"pull", func() error { _, err := s.Pull(t.Context(), "bob", []chat.Pull{{Group: "g", Limit: 50}}); return err }},
		{"lasts", func() error { _, err := s.Lasts(t.Context(), []string{"g"}); return err }},
	}
	measure := func() []cost {
		var costs []cost
		for _, step := range steps {
			server.Do("CONFIG", "RESETSTAT")
			if err := step.do(); err != nil {
				t.Fatal(err)
			}
			bytes := field(t, server, "stats", "total_net_output_bytes")
			calls := server.Calls()
			delete(calls, "config|resetstat")
			costs = append(costs, cost{fmt.Sprint(calls), bytes})
		}
		return costs
	}
	measure() // the first ack moves a cursor, the others do not
	fill(100)
	short := measure()
	fill(longLog)
	long := measure()
	for i, step := range steps {
		t.Logf("%s: %d bytes answered, %s", step.name, long[i].bytes, long[i].calls)
		if long[i].calls != short[i].calls {
			t.Errorf("%s: got %v with %d messages, want %v as with 100", step.name, long[i].calls, longLog, short[i].calls)
		}
		// Ids have a few digits more.
		if long[i].bytes > short[i].bytes+400 {
			t.Errorf("%s: answered %d bytes with %d messages, %d with 100", step.name, long[i].bytes, longLog, short[i].bytes)
		}
	}

	server.Do("CONFIG", "RESETSTAT")
	fill(100)
	if calls := server.Calls(); calls["evalsha"] != 100 || calls["eval"] != 0 {
		t.Errorf("got %d EVALSHA for 100 sends", calls["evalsha"])
	}
}

// longLog is enough that a range read of the whole log would show.
const longLog = 20_000

// field reads a number of INFO.
func field(t *testing.T, server *redistest.Server, section, name string) int64 {
	t.Helper()
	info, _ := server.Do("INFO", section).(string)
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+":"); ok {
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("INFO has no %s", name)
	return 0
}

// TestTheRestOfATrimIsATask: a send trims one step; what is left is not forgotten although nothing comes after it.
func TestTheRestOfATrimIsATask(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, store.Options{URL: server.URL(), Prefix: "p"})
	group(t, s, "g", 10, 1500) // bob sleeps
	ack := func(id int64) {
		t.Helper()
		if _, err := s.Ack(t.Context(), "g", "alice", chat.At(id), false, ""); err != nil {
			t.Fatal(err)
		}
	}
	ack(2)
	const tasks = "p:{p00}:q:core:ready:low"
	waiting := server.Int("LLEN", tasks)
	for send(t, s, greeting("g", "alice")).ID < 1536 { // which is 24 times 64, and more than 1500 beyond bob
	}
	if stored := server.Int("ZCARD", "p:{p00}:g:g:msgs"); stored != 536 {
		t.Errorf("got %d messages, want what is left after two steps", stored)
	}
	if n := server.Int("LLEN", tasks) - waiting; n != 1 {
		t.Errorf("got %d tasks for the rest, want 1", n)
	}
	for more := true; more; {
		var err error
		if more, err = s.Trim(t.Context(), "g"); err != nil {
			t.Fatal(err)
		}
	}
	if n := server.Int("LLEN", tasks) - waiting; n != 1 {
		t.Errorf("got %d tasks, want none more of the task itself", n)
	}
}

// TestFullScheduleIndexIsCheap: a user who has as many schedules as may be is refused without all of them being read, which could be
// hundreds of megabytes for each request.
func TestFullScheduleIndexIsCheap(t *testing.T) {
	server := redistest.Start(t)
	limits := chat.DefaultLimits()
	limits.UserSchedulesMax, limits.UserFiringsMax = 300, 0
	s := open(t, store.Options{URL: server.URL(), Limits: limits})
	body := strings.Repeat("x", 16<<10)
	create := func() error {
		_, _, err := s.CreateSchedule(t.Context(), schedule.NewSchedule{NextMs: 9e15, Plan: schedule.Plan{Owner: "alice", User: "bob", Content: chat.Content{Kind: chat.Text, Body: &body}}})
		return err
	}
	for range limits.UserSchedulesMax {
		if err := create(); err != nil {
			t.Fatal(err)
		}
	}
	answered := func() int64 {
		info, _ := server.Do("INFO", "stats").(string)
		_, after, _ := strings.Cut(info, "total_net_output_bytes:")
		digits, _, _ := strings.Cut(after, "\r\n")
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			t.Fatalf("got %q of the bytes answered", digits)
		}
		return n
	}
	before := answered()
	if err := create(); !errors.Is(err, chat.ErrOutOfRange) {
		t.Fatalf("one too many: got error %v", err)
	}
	if got := answered() - before; got > 50_000 {
		t.Errorf("the refusal cost %d bytes, want some tens for each of %d schedules", got, limits.UserSchedulesMax)
	}
}
