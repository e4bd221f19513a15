package statemachine_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/blocks"
	"github.com/chatd/chatd/chat/erase"
	"github.com/chatd/chatd/chat/retention"
	"github.com/chatd/chatd/chat/reviews"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/pgtest"
	"github.com/chatd/chatd/store"
	sqlarchive "github.com/chatd/chatd/store/archive"
	"github.com/chatd/chatd/store/embedded"
)

// archiveHappens are those without which a machine with an archive has compared nothing more than one without, as in happens.
var archiveHappens = map[string]int{
	"archive": 86, "page of the archive": 49, "edit of an archived message": 52, "delete of an archived message": 70,
	"react of an archived message": 69, "search": 80, "page over the border": 38, "erase": 33, "hold": 74, "drop": 2,
	"search finds an archived message": 11, "erase of an archived message": 5, "erase waits for a hold": 12,
	"end of a hold": 24, "erase after a hold": 2, "expire": 24, "expire of an archived message": 18,
	"retain on hold": 11, "search of several pages": 1, "search from outside": 8, "delete a held group": 1,
}

// machineArchive is the archive of a machine, as one node has it. Nothing is archived but where the machine says so.
type machineArchive struct {
	db        *sqlarchive.Store
	archiver  *archive.Archiver
	serving   *archive.Serving
	core      *chat.Service
	searcher  *archive.Searcher
	retention *retention.Service
	erase     *erase.Service
}

func newMachineArchive(t *rapid.T, groups *store.Store, db *sqlarchive.Store, o chat.Options) *machineArchive {
	patient := patientArchive{db}
	a := &machineArchive{db: db, archiver: archive.New(groups, patient, archive.Options{})}
	a.serving = archive.Serve(groups, patient, func(ctx context.Context, group string, to int64) error {
		return a.archiver.CatchUp(context.WithoutCancel(ctx), group, to)
	}, o.Limits)
	if err := a.archiver.Switch(context.Background()); err != nil {
		t.Fatal(err)
	}
	var served chat.Store = a.serving
	if o.StoreNow != nil {
		served = chat.Living(served, o.StoreNow)
	}
	a.core = chat.New(served, o)
	a.searcher = archive.NewSearcher(a.core, groups, db, a.archiver.CatchUp)
	a.retention = retention.New(retainedStore{archivedStore{groups, a.serving}}, a.archiver, retention.Options{})
	a.erase = erase.New(a.core, groups, a.serving, authorsArchive{db, a.archiver}, groups, webhook.New(a.core, groups, nil),
		blocks.New(a.core, groups).Erase, reviews.New(a.core, groups, nil, nil).Erase)
	return a
}

// authorsArchive is the archive as erasures ask it.
type authorsArchive struct {
	*sqlarchive.Store
	*archive.Archiver
}

// patientArchive answers after its callers' time, too: on a busy machine a page may take longer than the seconds that a node
// waits for one, and the machine makes each call once.
type patientArchive struct{ archive.Store }

func (p patientArchive) Add(ctx context.Context, batches []archive.Batch) error {
	return p.Store.Add(context.WithoutCancel(ctx), batches)
}

func (p patientArchive) Version(ctx context.Context, log archive.Log) (int64, error) {
	return p.Store.Version(context.WithoutCancel(ctx), log)
}

func (p patientArchive) Read(ctx context.Context, log archive.Log, span archive.Span) ([]chat.Message, error) {
	return p.Store.Read(context.WithoutCancel(ctx), log, span)
}

func (p patientArchive) Entries(ctx context.Context, log archive.Log, ids []int64) ([]chat.Message, error) {
	return p.Store.Entries(context.WithoutCancel(ctx), log, ids)
}

func (p patientArchive) Reactions(ctx context.Context, log archive.Log, user string, from, to int64) (map[int64]map[string]chat.ReactionCount, error) {
	return p.Store.Reactions(context.WithoutCancel(ctx), log, user, from, to)
}

func (p patientArchive) Reacted(ctx context.Context, log archive.Log, target int64, user, emoji string) (archive.Reacted, error) {
	return p.Store.Reacted(context.WithoutCancel(ctx), log, target, user, emoji)
}

func (p patientArchive) Drop(ctx context.Context, log archive.Log, to int64) (bool, error) {
	return p.Store.Drop(context.WithoutCancel(ctx), log, to)
}

// archiveActions are the actions of a machine with an archive.
func (m *machine) archiveActions() []action {
	list := []action{{6, "archive", m.archiveSome}, {8, "pages", m.pages}, {5, "readByAll", m.readByAll}, {6, "change archived", m.changeArchived}}
	if !m.faults {
		list = append(list, action{6, "search", m.search}, action{4, "hold", m.hold}, action{2, "erase", m.erase},
			action{5, "days pass", m.daysPass}, action{7, "retain", m.retain})
	}
	return list
}

// archivedStore is the store as readers that wait ask it.
type archivedStore struct {
	*store.Store
	serving *archive.Serving
}

// retainedStore is the store as retention asks it.
type retainedStore struct{ archivedStore }

func (s retainedStore) Range(ctx context.Context, group string, from int64, limit, bytesMax int) ([]chat.Message, chat.LogEnd, error) {
	return s.serving.Range(ctx, group, from, limit, bytesMax)
}

func (s archivedStore) Pull(ctx context.Context, user string, pulls []chat.Pull) ([]chat.Page, error) {
	return s.serving.Pull(ctx, user, pulls)
}

// store is where entries come from that are served.
func (m *machine) store() chat.Store {
	if m.now == nil {
		return m.logs()
	}
	return chat.Living(m.logs(), func() int64 { return *m.now })
}

// logs are the logs as they are stored.
func (m *machine) logs() chat.Store {
	if m.archive != nil {
		return m.archive.serving
	}
	return m.stores
}

// changed expects that a change of the message id succeeded.
func (m *machine) changed(t *rapid.T, what string, g *modelGroup, id int64, err error) {
	expect(t, what, err, "")
	switch {
	case id <= g.below():
		happened(what + " of a trimmed message")
	case id <= g.cut:
		happened(what + " of an archived message")
	}
}

func (m *machine) catchUp(t *rapid.T, group string) {
	if m.archive != nil {
		m.must(t, m.archive.archiver.CatchUp(m.ctx, group, chat.IDMax))
		m.doubts.archived(group)
	}
}

// archiveSome archives a group, or runs the task of a life of a group that is over. The archive does not get back what was dropped,
// so a store that may lose the end of a life keeps it.
func (m *machine) archiveSome(t *rapid.T, _, group string) {
	if epoch := m.groups[group].before; epoch != "" && !m.faults && oneOf(t, "earlier life", true, false) {
		m.runArchive(t, chat.GroupTask{Group: group, Epoch: epoch})
		entries, err := m.archive.db.Read(m.ctx, archive.Log{Group: group, Epoch: epoch}, archive.Span{From: 1, To: chat.IDMax, Limit: 1, BytesMax: 1})
		if err != nil || len(entries) > 0 {
			t.Fatalf("of the life %s of %s, which is over, the archive has %v, %v", epoch, group, entries, err)
		}
		happened("drop")
		return
	}
	m.runArchive(t, chat.GroupTask{Group: group, Epoch: m.groups[group].epoch})
	m.doubts.archived(group)
	happened("archive")
}

func (m *machine) runArchive(t *rapid.T, task chat.GroupTask) {
	m.must(t, m.archive.archiver.Handlers()[archive.TaskArchive].Run(m.ctx, chat.TaskRun{Payload: chat.Encode(task)}))
}

// readByAll lets everybody read everything, and the store trim it.
func (m *machine) readByAll(t *rapid.T, _, group string) {
	g := m.groups[group]
	for _, user := range machineUsers {
		if g.members[user] != nil {
			m.move(t, user, group, chat.At(g.last), true)
		}
	}
	m.trim(t, "", group)
	// What follows may depend on whether only the archive has a message.
	infos, err := m.stores.Infos(m.ctx, g.owner(), []string{group})
	m.must(t, err)
	m.sawCut(t, group, infos[0].Held)
}

// changeArchived changes messages that only the archive has, in every way.
func (m *machine) changeArchived(t *rapid.T, user, group string) {
	g := m.groups[group]
	m.below = true
	defer func() { m.below = false }()
	if !slices.ContainsFunc(g.alive(), func(id int64) bool { return id <= g.cut }) {
		for range g.keep + 3 {
			m.send(t, g.owner(), group)
		}
		m.readByAll(t, "", group)
	}
	m.edit(t, user, group)
	m.react(t, g.owner(), group)
	m.delete(t, user, group)
}

// pages reads the whole log page by page, upwards or downwards, from any place: it is all there, whatever was trimmed.
func (m *machine) pages(t *rapid.T, user, group string) {
	g := m.groups[group]
	if g.members[user] == nil || g.visible(user) > g.last { // all of it may be too old
		return
	}
	if evenly(t, "direction", 2) == 0 {
		m.pagesUp(t, user, group)
	} else {
		m.pagesDown(t, user, group)
	}
}

func (m *machine) pagesUp(t *rapid.T, user, group string) {
	g := m.groups[group]
	after := g.visible(user) - 1 + int64(evenly(t, "after", int(g.last-g.visible(user)+2)))
	for after < g.last {
		limit := rapid.IntRange(1, 9).Draw(t, "limit")
		from := fmt.Sprint(after)
		b, _, err := m.service.Pull(m.ctx, caller(user), group, chat.PullQuery{After: &from, Limit: limit})
		m.must(t, err)
		m.checkBatch(t, b, user, group, limit)
		if !b.Complete || b.From != after+1 || int64(len(b.Messages)) != min(int64(limit), g.last-after) {
			t.Fatalf("page of %s after %d, limit %d: %d..%d of %d, complete is %v", group, after, limit, b.From, b.To, g.last, b.Complete)
		}
		m.served(g, b.From, b.To)
		after = b.To
	}
}

func (m *machine) pagesDown(t *rapid.T, user, group string) {
	g := m.groups[group]
	before := 1 + g.visible(user) + int64(evenly(t, "before", int(g.last-g.visible(user)+1)))
	for before > g.visible(user) {
		limit := rapid.IntRange(1, 9).Draw(t, "limit")
		b, _, err := m.service.Pull(m.ctx, caller(user), group, chat.PullQuery{Before: &before, Limit: limit})
		m.must(t, err)
		from := max(g.visible(user), before-int64(limit))
		if int64(len(b.Messages)) != before-from {
			t.Fatalf("page of %s before %d, limit %d: got %d messages, want %d..%d", group, before, limit, len(b.Messages), from, before-1)
		}
		for i, msg := range b.Messages {
			id := from + int64(i)
			if msg.ID != id {
				t.Fatalf("page of %s before %d: place %d holds %d, want %d", group, before, i, msg.ID, id)
			}
			m.checkServed(t, user, group, msg)
		}
		m.served(g, from, before-1)
		before = from
	}
}

func (m *machine) served(g *modelGroup, from, to int64) {
	switch {
	case to <= g.cut:
		happened("page of the archive")
	case from <= g.cut:
		happened("page over the border")
	}
}

// runArchived runs the machine with an archive: groups are trimmed and nobody can tell.
func runArchived(t *testing.T, checks int, db *sqlarchive.Store) {
	shared := openEmbedded(t, embedded.Options{})
	defer func() { _ = shared.Close() }()
	runs := 0
	runMachine(t, checks, func(rt *rapid.T) *backend {
		runs++
		o := store.Options{Embedded: shared, Prefix: fmt.Sprintf("run%d", runs), Partitions: oneOf(rt, "partitions", 1, 4)}
		b := &backend{t: rt, archive: db}
		b.open = func() (*store.Store, func()) {
			s := b.store(o)
			return s, func() { b.fatal(s.Close()) }
		}
		return b
	}, archiveHappens)
}

func openArchive(t *testing.T, url string) *sqlarchive.Store {
	t.Helper()
	db, err := sqlarchive.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// TestMachineArchivedInSQLite compares a service whose store is archived with the model.
func TestMachineArchivedInSQLite(t *testing.T) {
	runArchived(t, 25, openArchive(t, "sqlite:"+filepath.Join(memoryDir(t), "archive.db")))
}

// TestMachineArchivedInPostgres is a shorter run.
func TestMachineArchivedInPostgres(t *testing.T) {
	runArchived(t, 12, openArchive(t, pgtest.Start(t).Database()))
}
