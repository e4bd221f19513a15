package dump_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/announce"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/doctor"
	"github.com/chatd/chatd/store/dump"
	"github.com/chatd/chatd/store/embedded"
)

// into exports a store and imports it into another one with so many partitions, which nothing is wrong with. The import is
// interrupted several times.
func into(t *testing.T, from *store.Store, partitions int, o store.Options) *store.Store {
	t.Helper()
	file := export(t, from, dump.Options{})
	m, counts, err := dump.Check(t.Context(), bytes.NewReader(file))
	must(t, err)
	o.Import, o.Partitions = m.ID, partitions
	to, err := store.Open(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { _ = to.Close() })
	// It is cut off after 1, 2, 4, 8 steps and so on: each time it reads the file from its beginning.
	begun, steps := int64(0), 1
	for {
		ctx, cancel := context.WithCancel(t.Context())
		left := steps
		steps *= 2
		err := dump.Import(ctx, to, bytes.NewReader(file), counts, dump.Options{Progress: func(done, _ int64) {
			if done <= begun {
				t.Errorf("the import begins again at %d, after %d", done, begun)
			}
			begun = done
			if left--; left == 0 {
				cancel()
			}
		}})
		cancel()
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if to.Partitions() != partitions {
		t.Fatalf("the store has %d partitions, want %d", to.Partitions(), partitions)
	}
	healthy(t, fmt.Sprint(partitions, " partitions"), to)
	return to
}

func onRedis(t *testing.T) store.Options { return store.Options{URL: redistest.Start(t).URL()} }

func inProcess(t *testing.T) store.Options {
	server, err := embedded.Open(t.Context(), embedded.Options{Dir: t.TempDir()})
	must(t, err)
	t.Cleanup(func() { _ = server.Close() })
	return store.Options{Embedded: server}
}

// healthy has the doctor look at a store.
func healthy(t *testing.T, what string, s *store.Store, archive ...func(context.Context) (string, error)) {
	t.Helper()
	o := doctor.Options{}
	for _, id := range archive {
		o.ArchiveID = id
	}
	d, err := doctor.New(s, o)
	must(t, err)
	report, err := d.Run(t.Context())
	must(t, err)
	for _, f := range report.Findings {
		t.Errorf("%s: the doctor found %s %s: %s", what, f.Kind, f.Key, f.Message)
	}
}

var partitionTag = regexp.MustCompile(`^\d+`)

// whole is the content of a store with one partition, without the order of tasks that are ready.
func whole(t *testing.T, s *store.Store) map[string][]string {
	found := content(t, export(t, s, dump.Options{}))
	for key := range found {
		if strings.Contains(key, ":ready:") {
			slices.Sort(found[key])
		}
	}
	return found
}

// TestPartitionsChange carries a store through other numbers of partitions, and through a cluster: what comes back is what was
// there.
func TestPartitionsChange(t *testing.T) {
	server := redistest.Start(t)
	first := fill(t, server.URL())
	b := chattest.Open(t, server.URL())
	core, err := b.Store.TaskClient(queue.Options{Queue: chat.QueueCore})
	must(t, err)
	for n := range 30 {
		must(t, core.PutPeriodic(t.Context(), queue.Periodic{ID: fmt.Sprint("periodic", n), Every: 24 * time.Hour, Kind: "novelty"}))
		user, group := fmt.Sprint("user", n), fmt.Sprint("group", n)
		b.MakeGroup(chat.GroupDraft{ID: group, Visibility: chat.Public}, user, "alice", "bob")
		for range 3 {
			b.Say(user, group, "hello @alice")
		}
		body, at := "later", time.Now().Add(time.Hour)
		plans := schedule.New(b.Service, b.Store, webhook.New(b.Service, b.Store, nil))
		_, err := plans.Create(b.Ctx, chattest.As("alice"), schedule.Draft{Group: group, Content: chat.Content{Body: &body}, At: &at})
		b.Must(err)
		_, _, err = plans.SendDirectLater(b.Ctx, chattest.As("alice"), user, chat.Direct{Body: &body}, at)
		b.Must(err)
		_, err = b.Store.BeginErasure(b.Ctx, chattest.Operator("root"), fmt.Sprint("gone", n))
		b.Must(err)
		b.Must(b.Store.Know(b.Ctx, fmt.Sprint("gone", n)))
		must(t, b.Store.Enqueue(b.Ctx, chat.NewTask{Queue: chat.QueueEgress, Kind: webhook.TaskDeliver, Subject: group, Account: "w", Key: group,
			Payload: webhook.DeliveryTask{Webhook: "w", ID: group, Body: json.RawMessage(`{"data":{"group":"` + group + `"}}`)}}))
	}
	// Of the tasks, some have failed, one runs on a server that died, and one is dead.
	for n, found := range server.Do("LRANGE", "chat:{p00}:q:egress:ready:normal", "0", "2").([]any) {
		id := fmt.Sprint(found)
		server.Do("HSET", "chat:{p00}:q:egress:runs", id, fmt.Sprint(n, " 1 0 0 0 an error"))
		server.Do("LREM", "chat:{p00}:q:egress:ready:normal", "1", id)
		switch n {
		case 0:
			server.Do("ZADD", "chat:{p00}:q:egress:delayed", "1790000000000", id)
		case 1:
			server.Do("ZADD", "chat:{p00}:q:egress:leased", "1790000000000", id+" "+strings.Repeat("t", 40))
		case 2:
			server.Do("ZADD", "chat:{p00}:q:egress:dead", "1790000000000", id)
			server.Do("HINCRBY", "chat:{p00}:q:egress:counts", "buried", "1")
			server.Do("HINCRBY", "chat:{p00}:q:egress:counts", "tasks~w", "-1")
			bytes := server.Do("HSTRLEN", "chat:{p00}:q:egress:tasks", id)
			server.Do("HINCRBY", "chat:{p00}:q:egress:counts", "bytes~w", fmt.Sprint("-", bytes))
			server.Do("HINCRBY", "chat:{p00}:q:egress:counts", "dead_bytes", fmt.Sprint(bytes))
		}
	}
	for name, n := range map[string]string{"enqueued": "7", "done": "4", "deleted": "2", "dropped": "1", "failed": "9"} { // earlier tasks
		server.Do("HINCRBY", "chat:{p00}:q:core:counts", name, n)
	}
	server.Do("SET", "chat:{p00}:q:egress:paused", "1")
	server.Do("HSET", "chat:{p00}:retention", "days", "30", "walked", "1")
	server.Do("HSET", "chat:{p00}:g:group1:erasures", fmt.Sprint(server.Do("GET", "chat:{p00}:u:gone1:erasing")), "gone1 e 4")
	healthy(t, "at first", first)
	want := whole(t, first)
	delete(want, "0grown") // counts by partition, which begin again
	for _, key := range []string{"0q:egress:leased", "0q:egress:dead", "0q:egress:runs", "0q:egress:paused", "0q:egress:counts", "0retention", "0g:group1:erasures",
		"0u:alice:schedules", "0u:alice:firings", "0u:gone7:erasing"} {
		if want[key] == nil {
			t.Fatalf("the file has no %s", key)
		}
	}
	four := into(t, first, 4, inProcess(t))
	inFour := content(t, export(t, four, dump.Options{}))
	spread(t, inFour, 4)
	schedulesThere(t, inFour)
	cluster := into(t, four, 64, store.Options{URL: redistest.StartCluster(t, 3, 0, "--appendonly", "yes").URL()})
	three := into(t, cluster, 3, onRedis(t))
	same(t, "after 4, 64 and 3 partitions", whole(t, into(t, three, 1, onRedis(t))), want)
}

// schedulesThere checks that the lists of each user name schedules by the ids that they have now.
func schedulesThere(t *testing.T, found map[string][]string) {
	t.Helper()
	for key, values := range found {
		if !strings.HasSuffix(key, ":schedules") && !strings.HasSuffix(key, ":firings") {
			continue
		}
		for _, value := range values { // [score id]
			_, id, _ := strings.Cut(strings.Trim(value, "[]"), " ")
			partition, _ := queue.PartitionOf(id)
			if found[fmt.Sprint(partition, "s:", id)] == nil {
				t.Errorf("%s names %s, which is not there", key, id)
			}
		}
	}
}

// spread checks that something of each kind is in several partitions.
func spread(t *testing.T, found map[string][]string, partitions int) {
	t.Helper()
	kinds := map[string]map[string]bool{}
	for key := range found {
		p := partitionTag.FindString(key)
		kind := strings.TrimPrefix(key, p)
		if words := strings.Split(kind, ":"); len(words[0]) == 1 && words[0] != "q" && len(words) > 1 {
			words[1] = "*"
			kind = strings.Join(words, ":")
		}
		if kinds[kind] == nil {
			kinds[kind] = map[string]bool{}
		}
		kinds[kind][p] = true
	}
	for _, kind := range []string{"g:*:msgs", "u:*:groups", "s:*", "e:*", "public", "users", "q:core:tasks", "q:core:delayed", "q:core:counts", "q:core:periodic", "q:egress:tasks",
		"q:egress:paused", "wants", "retention"} {
		if len(kinds[kind]) != partitions {
			t.Errorf("%s is in %d partitions, want %d", kind, len(kinds[kind]), partitions)
		}
	}
}

// TestWhatWaitsGoesOnInOtherPartitions: a schedule that was made before fires once, is found by the id that it had, and a repeat of
// its creation is recognised.
func TestWhatWaitsGoesOnInOtherPartitions(t *testing.T) {
	b := chattest.Open(t, redistest.Start(t).URL())
	const groups = 8
	at, body := time.Now().Add(2*time.Second), "due"
	draft := func(group string) schedule.Draft {
		return schedule.Draft{Key: "once", Group: group, Content: chat.Content{Body: &body}, At: &at}
	}
	plans := func(b *chattest.Bench) *schedule.Service {
		return schedule.New(b.Service, b.Store, webhook.New(b.Service, b.Store, nil))
	}
	ids := map[string]string{}
	for n := range groups {
		group := fmt.Sprint("g", n)
		b.MakeGroup(chat.GroupDraft{ID: group}, "alice", "bob")
		made, err := plans(b).Create(b.Ctx, chattest.As("alice"), draft(group))
		b.Must(err)
		ids[group] = made.ID
	}
	erasure, err := b.Store.BeginErasure(b.Ctx, chattest.Operator("root"), "somebody")
	b.Must(err)
	moved := into(t, into(t, b.Store, 4, onRedis(t)), 3, inProcess(t))
	service := chat.New(moved, b.Options())
	now := &chattest.Bench{Service: service, Store: moved, Ctx: b.Ctx, T: t}
	for group, id := range ids {
		found, err := plans(now).Get(b.Ctx, chattest.As("alice"), id)
		b.Must(err)
		if again, err := plans(now).Create(b.Ctx, chattest.As("alice"), draft(group)); err != nil || again.ID != found.ID {
			t.Errorf("a repeat made %s, %v, want %s", again.ID, err, found.ID)
		}
	}
	cancelled, err := plans(now).Create(b.Ctx, chattest.As("alice"), schedule.Draft{Group: "g0", Content: chat.Content{Body: &body}, At: &at})
	b.Must(err)
	b.Must(plans(now).Cancel(b.Ctx, chattest.As("alice"), cancelled.ID))
	b.Must(plans(now).Cancel(b.Ctx, chattest.As("alice"), ids["g0"]))
	if r, err := moved.Erasure(b.Ctx, erasure); err != nil || r.User != "somebody" {
		t.Errorf("the erasure: got %+v, %v", r, err)
	}
	if _, err := plans(now).Get(b.Ctx, chattest.As("alice"), "p00-none"); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("no schedule: got %v", err)
	}
	chattest.Work(t, moved, service, plans(now), webhook.New(service, moved, nil))
	for group := range ids {
		if group == "g0" {
			continue
		}
		harness.Eventually(t, 20*time.Second, "the message is sent", func() error {
			if info, err := service.Info(b.Ctx, "bob", group); err != nil || info.Last != 3 {
				return fmt.Errorf("%s ends at %d, %w", group, info.Last, err)
			}
			return nil
		})
	}
	if info, err := service.Info(b.Ctx, "bob", "g0"); err != nil || info.Last != 2 {
		t.Errorf("what was cancelled: the log ends at %d, %v", info.Last, err)
	}
}

// TestAnnouncementsGoOnInOtherPartitions: announcements of which some have got one half get the other, and nobody gets one twice.
func TestAnnouncementsGoOnInOtherPartitions(t *testing.T) {
	b := chattest.Open(t, redistest.Start(t).URL())
	const people, groups = 150, 6
	long := strings.Repeat("x", 15<<10) // so that a batch has few users
	named := announce.Target{}
	for n := range people {
		user := fmt.Sprint("user", n)
		b.Must(b.Store.Know(b.Ctx, user))
		if n%2 == 0 {
			named.Users = append(named.Users, user)
		}
	}
	for n := range groups {
		group := fmt.Sprint("g", n)
		b.MakeGroup(chat.GroupDraft{ID: group}, "user0", "user1")
		named.Groups = append(named.Groups, group)
	}
	service := announce.New(b.Service, b.Store)
	all, err := service.Create(b.Ctx, chattest.Operator("root"), announce.Draft{To: announce.Target{All: true}, Content: chat.Content{Body: &long}})
	b.Must(err)
	some, err := service.Create(b.Ctx, chattest.Operator("root"), announce.Draft{To: named, Content: chat.Content{Body: &long}, Cron: "0 0 1 1 *"})
	b.Must(err)
	over, err := service.Create(b.Ctx, chattest.Operator("root"), announce.Draft{To: announce.Target{Users: []string{"user3"}}, Content: chat.Content{Body: &long}})
	b.Must(err)
	part := func(s *store.Store, id string, p int) { // one batch
		payload, err := json.Marshal(announce.Part{Announcement: id, Run: 1, Partition: p})
		must(t, err)
		var more *chat.Postponed
		err = announce.New(chat.New(s, b.Options()), s).Handlers()[announce.TaskPart].Run(b.Ctx, chat.TaskRun{Payload: payload})
		if err != nil && !errors.As(err, &more) {
			t.Fatal(err)
		}
	}
	for _, id := range []string{all.ID, over.ID} {
		chattest.Do(t, service.Handlers()[announce.TaskRun], announce.RunTask{Announcement: id, Run: 1})
		part(b.Store, id, 0)
	}
	draft, err := json.Marshal(announce.Plan{From: "root", To: named, Content: chat.Content{Body: &long}, Priority: chat.PriorityLow})
	b.Must(err)
	begin := func(id string) { // of a run that is not due for a long time
		_, _, err := b.Store.BeginAnnouncement(b.Ctx, id, 1, time.Now().Add(24*time.Hour).UnixMilli())
		b.Must(err)
		b.Must(b.Store.StartAnnouncement(b.Ctx, id, 1))
	}
	b.Must(b.Store.CreateAnnouncement(b.Ctx, announce.NewAnnouncement{ID: "now", Draft: draft, Priority: chat.PriorityLow, Page: 10, Users: named.Users, Groups: named.Groups}))
	begin("now")
	for range 3 {
		part(b.Store, "now", 0)
	}
	four := into(t, b.Store, 4, inProcess(t))
	for p := range 3 {
		part(four, all.ID, p)
		part(four, "now", p)
	}
	last := into(t, into(t, four, 3, onRedis(t)), 2, onRedis(t))
	core := chat.New(last, b.Options())
	operator := announce.New(core, last)
	chattest.Work(t, last, core, operator, webhook.New(core, last, nil), schedule.New(core, last, webhook.New(core, last, nil)))
	harness.Eventually(t, 30*time.Second, "the announcements are complete", func() error {
		for id, want := range map[string]string{
			all.ID: fmt.Sprint("done ", people, " ", people, " 0"), over.ID: "done 1 1 0",
			"now": fmt.Sprint("pending ", people/2+groups, " ", people/2+groups, " 0"), some.ID: fmt.Sprint("pending ", people/2+groups, " 0 0"),
		} {
			a, err := operator.Get(b.Ctx, chattest.Operator("root"), id)
			if got := fmt.Sprint(a.State, " ", a.Total, " ", a.Delivered, " ", a.Failed); err != nil || got != want {
				return fmt.Errorf("got %s, %w, want %s", got, err, want)
			}
		}
		return nil
	})
	heardOnce(t, b, core, people, groups)
	healthy(t, "at last", last)
}

// heardOnce checks who got the announcements: one to everyone, one to each second user and each group, and one to user3.
func heardOnce(t *testing.T, b *chattest.Bench, core *chat.Service, people, groups int) {
	t.Helper()
	for n := range people {
		user := fmt.Sprint("user", n)
		page, err := core.Inbox(b.Ctx, chattest.As(user), chat.Position{}, 100)
		b.Must(err)
		heard := 0
		for _, item := range page.Items {
			if strings.Contains(string(item.JSON), `"announcement"`) {
				heard++
			}
		}
		want := 1
		if n%2 == 0 {
			want++
		}
		if n == 3 {
			want++
		}
		if heard != want {
			t.Errorf("%s got %d announcements, want %d", user, heard, want)
		}
	}
	for n := range groups {
		if info, err := core.Info(b.Ctx, "user0", fmt.Sprint("g", n)); err != nil || info.Last != 3 {
			t.Errorf("g%d ends at %d, %v, want 3", n, info.Last, err)
		}
	}
}

// TestUnknownTasksStayWhereTheyAre: what this version does not know of tasks goes into as many partitions as it came from, and no
// others.
func TestUnknownTasksStayWhereTheyAre(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{"HSET chat:{p00}:q:core:tasks p00-X later", ""},
		{"HSET chat:{p00}:q:core:tasks p00-X normal_0_0_1_1_novelty__{}", "a task of the kind novelty"}, {"SET chat:{p00}:q:other:paused 1", "no queue of chatd"},
	} {
		server := redistest.Start(t)
		s, err := store.Open(t.Context(), store.Options{URL: server.URL()})
		must(t, err)
		t.Cleanup(func() { _ = s.Close() })
		args := strings.Fields(c.command)
		args[len(args)-1] = strings.ReplaceAll(strings.ReplaceAll(args[len(args)-1], "__{}", " \n{}"), "_", " ")
		server.Do(args...)
		file := export(t, s, dump.Options{})
		must(t, load(t, openFor(t, file, onRedis(t)), file, dump.Options{}))
		m, _, err := dump.Check(t.Context(), strings.NewReader(string(file)))
		must(t, err)
		empty := redistest.Start(t)
		to, err := store.Open(t.Context(), store.Options{URL: empty.URL(), Import: m.ID, Partitions: 2})
		must(t, err)
		t.Cleanup(func() { _ = to.Close() })
		err = load(t, to, file, dump.Options{})
		if c.want == "" {
			must(t, err)
			continue
		}
		wants(t, c.command, err, c.want)
		if n := empty.Int("DBSIZE"); n != 1 {
			t.Errorf("what was refused has left %d keys", n)
		}
	}
}
