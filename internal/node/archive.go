package node

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/erase"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/chat/retention"
	sqlarchive "github.com/chatd/chatd/store/archive"
)

// archiveFile is the archive beside the embedded store where nothing else is configured.
const archiveFile = "archive.db"

// archiveOff switches the archive off.
const archiveOff = "off"

// checkArchive reads CHATD_ARCHIVE. The value may hold a password, so it is not shown.
func (s *settings) checkArchive(p *problems) {
	scheme, rest, _ := strings.Cut(s.Archive, ":")
	switch {
	case s.Archive == "" && s.Redis == "":
		s.Archive = "sqlite:" + filepath.Join(s.Data, archiveFile)
	case s.Archive == "", s.Archive == archiveOff, scheme == "sqlite" && rest != "":
	case (scheme == "postgres" || scheme == "postgresql") && strings.HasPrefix(rest, "//"):
	default:
		p.add("CHATD_ARCHIVE", "want sqlite:PATH, postgres://USER:PASSWORD@HOST/DATABASE, or off")
	}
}

// ArchiveAddress is the database that keeps all history, also where none is named. "": there is none.
func (c Config) ArchiveAddress() (string, error) {
	s := settings{Config: c}
	var p problems
	s.checkStore(&p)
	s.checkArchive(&p)
	if s.Archive == archiveOff {
		s.Archive = ""
	}
	return s.Archive, errors.Join(p...)
}

// openArchive opens the archive that is configured and records it in the store. A database that does not answer holds nothing up
// where the store is archived already: it is opened once it answers.
func (n *Node) openArchive(ctx context.Context) error {
	state, err := n.store.ArchiveState(ctx)
	if err != nil {
		return err
	}
	var db archive.Store
	switch {
	case n.set.Archive == archiveOff:
	case n.set.Archive == "" && state.On:
		return errors.New("CHATD_ARCHIVE is not set, but this store has an archive: set it to the database that the other nodes use, or to off to give the archive up")
	case n.set.Archive == "":
	default:
		late := &lateArchive{id: state.ID, open: func(ctx context.Context) (archiveDB, error) { return sqlarchive.Open(ctx, n.set.Archive) }}
		if !state.On {
			late.id = "" // it may become another one
		}
		n.archiveDB, db = late, late
	}
	n.archiver = archive.New(archiveStore{n.store.Archive, n.store.Groups, n.store.Tasks}, db, archive.Options{Log: n.log})
	if n.archiveDB != nil {
		if _, err := n.archiveDB.get(ctx); err != nil && (!state.On || chat.CodeOf(err) != chat.CodeUnavailable) {
			return fmt.Errorf("CHATD_ARCHIVE: %w", err)
		} else if err != nil {
			n.log.Error("the archive does not answer; messages stay in the store until it does", "error", err)
		}
	}
	if err := n.archiver.Switch(ctx); err != nil {
		return fmt.Errorf("CHATD_ARCHIVE: %w", err)
	}
	return nil
}

// archived is the database of the archive, nil where there is none.
func (n *Node) archived() archive.Store {
	if n.archiveDB == nil {
		return nil
	}
	return n.archiveDB
}

// archivedStore is the store as readers that wait ask it: pages go on in the archive.
type archivedStore struct {
	live.Store
	serving *archive.Serving
}

// Pull implements chat.PullStore.
func (s archivedStore) Pull(ctx context.Context, user string, pulls []chat.Pull) ([]chat.Page, error) {
	return s.serving.Pull(ctx, user, pulls)
}

// retainedStore is the store as retention asks it: a log is looked at from where it begins in the archive.
type retainedStore struct {
	retention.Store
	ranges interface {
		Range(ctx context.Context, group string, from int64, limit, bytesMax int) ([]chat.Message, chat.LogEnd, error)
	}
}

// Range implements retention.Store.
func (s retainedStore) Range(ctx context.Context, group string, from int64, limit, bytesMax int) ([]chat.Message, chat.LogEnd, error) {
	return s.ranges.Range(ctx, group, from, limit, bytesMax)
}

// archiveDB is a database that keeps logs.
type archiveDB interface {
	archive.Store
	erase.Archive
	Close() error
}

// lateArchive opens a database with the first call that it answers. Until then every call is refused as unavailable.
type lateArchive struct {
	id   string // of the database that the store is archived into; empty: into none
	open func(context.Context) (archiveDB, error)

	mu      sync.Mutex
	db      archiveDB
	opening *opening // nil: nobody opens it
	closed  bool
}

// opening is an attempt to open a database. It goes on after the call that began it: a migration may take longer.
type opening struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when it has ended
	err    error
}

var _ archive.Store = (*lateArchive)(nil)

// get is the open database. While one caller opens it, the others are refused.
func (a *lateArchive) get(ctx context.Context) (archiveDB, error) {
	a.mu.Lock()
	switch {
	case a.db != nil:
		defer a.mu.Unlock()
		return a.db, nil
	case a.opening != nil, a.closed:
		defer a.mu.Unlock()
		return nil, chat.ErrUnavailable
	}
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	o := &opening{cancel: cancel, done: make(chan struct{})}
	a.opening = o
	a.mu.Unlock()
	go a.finish(background, o)
	select {
	case <-o.done:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: the archive is being opened: %w", chat.ErrUnavailable, ctx.Err())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if o.err == nil && a.db == nil {
		return nil, chat.ErrUnavailable // it was closed meanwhile
	}
	return a.db, o.err
}

// finish opens the database, and closes it again where nobody wants it any longer.
func (a *lateArchive) finish(ctx context.Context, o *opening) {
	defer o.cancel()
	db, err := a.openThis(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	defer close(o.done)
	a.opening = nil
	switch {
	case err != nil:
		o.err = err
	case a.closed:
		o.err = errors.Join(chat.ErrUnavailable, db.Close())
	default:
		a.db = db
	}
}

// openThis opens the database and looks whether it is the one that the store is archived into.
func (a *lateArchive) openThis(ctx context.Context) (archiveDB, error) {
	db, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	id, err := db.ID(ctx)
	if err == nil && a.id != "" && id != a.id {
		err = archive.OtherDatabase(id, a.id)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Close closes the database if it is open, and gives it up if it is being opened.
func (a *lateArchive) Close() error {
	a.mu.Lock()
	a.closed = true
	o := a.opening
	a.mu.Unlock()
	if o != nil {
		o.cancel()
		<-o.done
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.db == nil {
		return nil
	}
	err := a.db.Close()
	a.db = nil
	return err
}

// ID is known of a database that the store is archived into, also while it does not answer.
func (a *lateArchive) ID(ctx context.Context) (string, error) {
	if a.id != "" {
		return a.id, nil
	}
	db, err := a.get(ctx)
	if err != nil {
		return "", err
	}
	return db.ID(ctx)
}

// Add implements archive.Store.
func (a *lateArchive) Add(ctx context.Context, batches []archive.Batch) error {
	db, err := a.get(ctx)
	if err != nil {
		return err
	}
	return db.Add(ctx, batches)
}

// Version implements archive.Store.
func (a *lateArchive) Version(ctx context.Context, log archive.Log) (int64, error) {
	db, err := a.get(ctx)
	if err != nil {
		return 0, err
	}
	return db.Version(ctx, log)
}

// Read implements archive.Store.
func (a *lateArchive) Read(ctx context.Context, log archive.Log, span archive.Span) ([]chat.Message, error) {
	db, err := a.get(ctx)
	if err != nil {
		return nil, err
	}
	return db.Read(ctx, log, span)
}

// Entries implements archive.Store.
func (a *lateArchive) Entries(ctx context.Context, log archive.Log, ids []int64) ([]chat.Message, error) {
	db, err := a.get(ctx)
	if err != nil {
		return nil, err
	}
	return db.Entries(ctx, log, ids)
}

// Reactions implements archive.Store.
func (a *lateArchive) Reactions(ctx context.Context, log archive.Log, user string, from, to int64) (map[int64]map[string]chat.ReactionCount, error) {
	db, err := a.get(ctx)
	if err != nil {
		return nil, err
	}
	return db.Reactions(ctx, log, user, from, to)
}

// Reacted implements archive.Store.
func (a *lateArchive) Reacted(ctx context.Context, log archive.Log, target int64, user, emoji string) (archive.Reacted, error) {
	db, err := a.get(ctx)
	if err != nil {
		return archive.Reacted{}, err
	}
	return db.Reacted(ctx, log, target, user, emoji)
}

// Drop implements archive.Store.
func (a *lateArchive) Drop(ctx context.Context, log archive.Log, to int64) (more bool, err error) {
	db, err := a.get(ctx)
	if err != nil {
		return false, err
	}
	return db.Drop(ctx, log, to)
}

// LogsAfter implements archive.Store.
func (a *lateArchive) LogsAfter(ctx context.Context, after int64, limit int) ([]archive.Log, int64, error) {
	db, err := a.get(ctx)
	if err != nil {
		return nil, 0, err
	}
	return db.LogsAfter(ctx, after, limit)
}

// Search implements archive.Store.
func (a *lateArchive) Search(ctx context.Context, q archive.Query) (archive.Found, error) {
	db, err := a.get(ctx)
	if err != nil {
		return archive.Found{}, err
	}
	return db.Search(ctx, q)
}

// ReactionsTo implements archive.Store.
func (a *lateArchive) ReactionsTo(ctx context.Context, log archive.Log, target, after int64, limit int) ([]chat.Message, error) {
	db, err := a.get(ctx)
	if err != nil {
		return nil, err
	}
	return db.ReactionsTo(ctx, log, target, after, limit)
}

// Authored implements erase.Archive.
func (a *lateArchive) Authored(ctx context.Context, user string, after int64, limit int) ([]archive.Authored, error) {
	db, err := a.get(ctx)
	if err != nil {
		return nil, err
	}
	return db.Authored(ctx, user, after, limit)
}

// OthersOf implements erase.Archive.
func (a *lateArchive) OthersOf(ctx context.Context, user, after string, limit int) ([]archive.Other, string, error) {
	db, err := a.get(ctx)
	if err != nil {
		return nil, "", err
	}
	return db.OthersOf(ctx, user, after, limit)
}

// away names what of the node is away although it serves.
func (n *Node) away() (parts []string) {
	if !n.archiver.AwaySince().IsZero() {
		parts = append(parts, "archive")
	}
	return parts
}

// archiveMetrics are the metrics of the archiver on this node.
type archiveMetrics struct{ archiver *archive.Archiver }

var _ prometheus.Collector = archiveMetrics{}

var (
	descArchived        = prometheus.NewDesc("chatd_archived_entries_total", "Entries that this node has written to the archive.", nil, nil)
	descArchiveFailures = prometheus.NewDesc("chatd_archive_failures_total", "Calls of the archive's database that failed on this node.", nil, nil)
	descArchiveFailure  = prometheus.NewDesc("chatd_archive_last_failure_seconds", "When such a call last failed, as Unix time; 0: never.", nil, nil)
	descArchiveGroups   = prometheus.NewDesc("chatd_archive_lag_groups", "Groups with entries that are not archived yet, as far as this node knows.", nil, nil)
	descArchiveAway     = prometheus.NewDesc("chatd_archive_away", "1 while the archive's database does not answer this node.", nil, nil)
	descArchiveLag      = prometheus.NewDesc("chatd_archive_lag_entries", "Entries not archived yet, of the groups this node knows to be behind.", nil, nil)
	descArchiveAge      = prometheus.NewDesc("chatd_archive_lag_seconds", "Age of the oldest of these entries.", nil, nil)
)

// Describe implements prometheus.Collector.
func (f archiveMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descArchived, descArchiveFailures, descArchiveFailure, descArchiveAway, descArchiveGroups, descArchiveLag, descArchiveAge} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (f archiveMetrics) Collect(to chan<- prometheus.Metric) {
	stats, away, failedAt := f.archiver.Stats(), 0.0, 0.0
	if !stats.FailedAt.IsZero() {
		failedAt = float64(stats.FailedAt.UnixMilli()) / 1000
	}
	if !f.archiver.AwaySince().IsZero() {
		away = 1
	}
	to <- prometheus.MustNewConstMetric(descArchived, prometheus.CounterValue, float64(stats.Archived))
	to <- prometheus.MustNewConstMetric(descArchiveFailures, prometheus.CounterValue, float64(stats.Failed))
	to <- prometheus.MustNewConstMetric(descArchiveFailure, prometheus.GaugeValue, failedAt)
	to <- prometheus.MustNewConstMetric(descArchiveGroups, prometheus.GaugeValue, float64(stats.Groups))
	to <- prometheus.MustNewConstMetric(descArchiveAway, prometheus.GaugeValue, away)
	to <- prometheus.MustNewConstMetric(descArchiveLag, prometheus.GaugeValue, float64(stats.Entries))
	to <- prometheus.MustNewConstMetric(descArchiveAge, prometheus.GaugeValue, stats.Oldest.Seconds())
}

// searchMetrics are the metrics of searches on this node.
type searchMetrics struct{ searcher *archive.Searcher }

var _ prometheus.Collector = searchMetrics{}

var (
	descSearches      = prometheus.NewDesc("chatd_searches_total", "Searches on this node, by how they ended.", []string{"outcome"}, nil)
	descSearchSeconds = prometheus.NewDesc("chatd_search_seconds_total", "Time that they took, with what they waited for.", nil, nil)
)

// Describe implements prometheus.Collector.
func (f searchMetrics) Describe(to chan<- *prometheus.Desc) {
	to <- descSearches
	to <- descSearchSeconds
}

// Collect implements prometheus.Collector.
func (f searchMetrics) Collect(to chan<- prometheus.Metric) {
	stats := f.searcher.Stats()
	for outcome, n := range map[string]int64{
		"answered": stats.Answered, "too_long": stats.TooLong, "busy": stats.Busy, "failed": stats.Failed,
	} {
		to <- prometheus.MustNewConstMetric(descSearches, prometheus.CounterValue, float64(n), outcome)
	}
	to <- prometheus.MustNewConstMetric(descSearchSeconds, prometheus.CounterValue, stats.Took.Seconds())
}
