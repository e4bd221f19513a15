package chat_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store"
)

const (
	togetherSteps = 1000 // by each of the workers
	togetherKinds = 14
)

// TestManyAtOnce lets two nodes with their tasks do everything at the same time to a few groups that come and go, and
// then looks at what is left: each group is whole, and the indexes say what the groups say.
func TestManyAtOnce(t *testing.T) {
	server := redistest.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	users := []string{"ann", "bob", "cid", "dee", "eve"}
	groups := []string{"red", "blue", "green"}
	nodes := make([]*chat.Service, 2)
	stores := make([]*store.Store, 2)
	working, stop := context.WithCancel(ctx)
	var wg, tasks sync.WaitGroup
	for i := range nodes {
		s, err := store.Open(ctx, store.Options{URL: server.URL(), Partitions: 4})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		stores[i], nodes[i] = s, chat.New(s, chat.Options{})
		work, err := queue.New(queue.Options{Client: s.Client(), Partitions: 4, BackoffMin: time.Millisecond, BackoffMax: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		for kind, handle := range nodes[i].Handlers() {
			work.Handle(kind, func(ctx context.Context, task queue.Task) error {
				return handle.Run(ctx, chat.TaskRun{Payload: task.Payload})
			})
		}
		tasks.Go(func() { _ = work.Run(working) })
	}
	defer tasks.Wait()
	defer stop()
	var done [togetherKinds]atomic.Int64
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	defer func() { t.Logf("done: %v", counts(&done)) }()
	for w := range 8 {
		wg.Go(func() {
			worker := &together{t: t, ctx: ctx, service: nodes[w%2], live: live.New(nodes[w%2], stores[w%2]), r: rand.New(rand.NewPCG(seed, uint64(w))), users: users, groups: groups, done: &done}
			for range togetherSteps {
				worker.step()
			}
		})
	}
	wg.Wait()
	for what := range done {
		if done[what].Load() == 0 {
			t.Errorf("step %d was never done: nothing was shown of it (all: %v)", what, counts(&done))
		}
	}
	client, err := queue.NewClient(queue.Options{Client: stores[0].Client(), Partitions: 4})
	if err != nil {
		t.Fatal(err)
	}
	for {
		stats, err := client.Stats(ctx)
		if err != nil {
			t.Fatal(err)
		}
		waiting := stats.Delayed + stats.Leased
		for _, n := range stats.Ready {
			waiting += n
		}
		if stats.Dead > 0 {
			t.Fatalf("%d tasks could not be done", stats.Dead)
		}
		if waiting == 0 {
			break
		}
	}
	for _, group := range groups {
		auditGroup(ctx, t, stores[0], group, users)
	}
}

// together is one of many who act at once. What they do may be refused, but nothing may break.
type together struct {
	t             *testing.T
	ctx           context.Context
	service       *chat.Service
	live          *live.Service
	r             *rand.Rand
	users, groups []string
	done          *[togetherKinds]atomic.Int64
}

func (w *together) step() {
	user, other := w.users[w.r.IntN(len(w.users))], w.users[w.r.IntN(len(w.users))]
	group, by, body, keep := w.groups[w.r.IntN(len(w.groups))], as(user), "x", w.r.Int64N(5)
	var err error
	what := w.r.IntN(togetherKinds)
	switch what {
	case 0, 1:
		_, err = w.service.CreateGroup(w.ctx, by, chat.GroupDraft{ID: group, Members: []string{other}, Visibility: chat.Public, Keep: &keep})
	case 2:
		if w.r.IntN(3) == 0 {
			err = w.service.DeleteGroup(w.ctx, operator("root"), group)
		}
	case 3, 4:
		_, _, err = w.service.PutMember(w.ctx, operator("root"), group, user, []chat.Role{"", chat.Admin, chat.Owner}[w.r.IntN(3)])
	case 5:
		err = w.service.RemoveMember(w.ctx, by, group, user)
	case 6, 7, 8:
		_, err = w.service.Send(w.ctx, by, group, chat.Content{Body: &body, Mentions: []string{other}, ClientID: fmt.Sprint(w.r.IntN(50))}, "")
	case 9:
		_, err = w.service.Send(w.ctx, by, group, chat.Content{Kind: chat.Edit, Target: 1 + w.r.Int64N(40), Body: &body}, "")
	case 10:
		_, err = w.service.Send(w.ctx, by, group, chat.Content{Kind: chat.Delete, Target: 1 + w.r.Int64N(40)}, "")
	case 11:
		_, err = w.service.Send(w.ctx, by, group, chat.Content{Kind: chat.Reaction, Target: 1 + w.r.Int64N(40), Emoji: ":x:", Removed: w.r.IntN(2) == 0}, "")
	case 12:
		_, err = w.service.Read(w.ctx, by, group, chat.At(w.r.Int64N(40)))
	case 13:
		_, err = w.live.Sync(w.ctx, by, live.SyncRequest{Limit: 5})
	}
	if code := chat.CodeOf(err); code == chat.CodeInternal || code == chat.CodeUnavailable {
		w.t.Errorf("step %d by %s in %s: %v", what, user, group, err)
	}
	if err == nil {
		w.done[what].Add(1)
	}
}

// auditGroup compares what the store holds of a group with itself and with the indexes of all users.
func auditGroup(ctx context.Context, t *testing.T, s *store.Store, group string, users []string) {
	t.Helper()
	base := fmt.Sprintf("chat:{p%02d}:g:%s:", queue.Partition(group, 4), group)
	var info chat.Info
	owners, members := 0, []string{}
	for _, u := range users {
		infos, err := s.Infos(ctx, u, []string{group})
		if err != nil {
			t.Fatal(err)
		}
		info = infos[0]
		if info.Role == chat.Owner {
			owners++
		}
		if info.Role != "" {
			members = append(members, u)
		}
		index, err := s.UserGroups(ctx, u)
		if err != nil {
			t.Fatal(err)
		}
		listed := slices.ContainsFunc(index, func(g chat.UserGroup) bool { return g.Group == group && g.Seen <= max(info.Seen, 0) })
		if has := slices.ContainsFunc(index, func(g chat.UserGroup) bool { return g.Group == group }); has != (info.Role != "") || has != listed {
			t.Errorf("%s has role %q in %s and seen %d; the index: %+v", u, info.Role, group, info.Seen, index)
		}
	}
	if info.Epoch == "" {
		keys, err := s.Client().Keys(ctx, base+"*").Result()
		if err != nil || len(keys) > 0 {
			t.Errorf("%s is deleted, and there is %q, %v", group, keys, err)
		}
		return
	}
	if owners != 1 || info.Members != int64(len(members)) {
		t.Errorf("%s has %d owners and %d members, of whom %q are known", group, owners, info.Members, members)
	}
	for _, set := range []string{"joined", "seen", "read"} {
		if got, err := s.Client().ZRange(ctx, base+set, 0, -1).Result(); err != nil || !slices.Equal(slices.Sorted(slices.Values(got)), members) {
			t.Errorf("%s%s holds %q, %v; the members are %q", base, set, got, err, members)
		}
	}
	stored, end, err := s.Range(ctx, group, 0, 100_000, 0)
	if err != nil || end.Last != info.Last || int64(len(stored)) != info.Last-info.Held+1 {
		t.Fatalf("%s holds %d messages and ends at %d, %v; it says %d..%d", group, len(stored), end.Last, err, info.Held, info.Last)
	}
	for i, m := range stored {
		if m.ID != info.Held+int64(i) || !strings.HasPrefix(string(m.JSON), fmt.Sprintf(`{"id":%d,"group":%q,`, m.ID, group)) {
			t.Errorf("%s: at %d there is %d: %s", group, info.Held+int64(i), m.ID, m.JSON)
		}
	}
}

func counts(done *[togetherKinds]atomic.Int64) (all []int64) {
	for i := range done {
		all = append(all, done[i].Load())
	}
	return all
}
