package node

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/chat/retention"
	sqlarchive "github.com/chatd/chatd/store/archive"
)

// archiveFile is the archive beside the embedded store where nothing else is configured.
const archiveFile = "archive.db"

// archiveOff switches the archive off.
const archiveOff = "off"

// archived tells whether there is an archive.
func (s settings) archived() bool { return s.Archive != "" && s.Archive != archiveOff }

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
	s, err := c.checkForStore()
	if !s.archived() {
		return "", err
	}
	return s.Archive, err
}

// openArchive opens the archive that is configured and records it in the store. A database that does not answer holds nothing up
// where the store is archived already: it is opened once it answers.
func (n *Node) openArchive(ctx context.Context) error {
	state, err := n.store.ArchiveState(ctx)
	if err != nil {
		return err
	}
	if n.set.Archive == "" && state.On {
		return errors.New("CHATD_ARCHIVE is not set, but this store has an archive: set it to the database that the other nodes use, or to off to give the archive up")
	}
	var db archive.Store
	if n.set.archived() {
		if !state.On {
			state.ID = "" // it may become another one
		}
		if n.archiveDB, err = sqlarchive.Later(n.set.Archive, state.ID); err != nil {
			return fmt.Errorf("CHATD_ARCHIVE: %w", err)
		}
		if err := n.archiveDB.Connect(ctx); err != nil && (!state.On || chat.CodeOf(err) != chat.CodeUnavailable) {
			return fmt.Errorf("CHATD_ARCHIVE: %w", err)
		} else if err != nil {
			n.log.Error("the archive does not answer; messages stay in the store until it does", "error", err)
		}
		db = n.archiveDB
	}
	n.archiver = archive.New(archiveStore{n.store.Archive, n.store.Groups, n.store.Tasks}, db, archive.Options{Log: n.log})
	if err := n.archiver.Switch(ctx); err != nil {
		return fmt.Errorf("CHATD_ARCHIVE: %w", err)
	}
	return nil
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

// authorsArchive is the archive as erasures ask it.
type authorsArchive struct {
	*sqlarchive.Store
	*archive.Archiver
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

// away names what of the node is away although it serves.
func (n *Node) away() (parts []string) {
	if !n.archiver.AwaySince().IsZero() {
		parts = append(parts, "archive")
	}
	return parts
}

// archiveMetrics are the metrics of the archiver and of searches on this node.
func archiveMetrics(archiver *archive.Archiver, searcher *archive.Searcher) (all []prometheus.Collector) {
	counter := func(name, help string, labels prometheus.Labels, value func() float64) {
		all = append(all, prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels}, value))
	}
	gauge := func(name, help string, value func() float64) {
		all = append(all, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
	}
	counter("chatd_archived_entries_total", "Entries that this node has written to the archive.", nil, func() float64 {
		return float64(archiver.Stats().Archived)
	})
	counter("chatd_archive_failures_total", "Calls of the archive's database that failed on this node.", nil, func() float64 {
		return float64(archiver.Stats().Failed)
	})
	gauge("chatd_archive_last_failure_seconds", "When such a call last failed, as Unix time; 0: never.", func() float64 {
		if at := archiver.Stats().FailedAt; !at.IsZero() {
			return float64(at.UnixMilli()) / 1000
		}
		return 0
	})
	gauge("chatd_archive_away", "1 while the archive's database does not answer this node.", func() float64 {
		if archiver.AwaySince().IsZero() {
			return 0
		}
		return 1
	})
	gauge("chatd_archive_lag_groups", "Groups with entries that are not archived yet, as far as this node knows.", func() float64 {
		return float64(archiver.Stats().Groups)
	})
	gauge("chatd_archive_lag_entries", "Entries not archived yet, of the groups this node knows to be behind.", func() float64 {
		return float64(archiver.Stats().Entries)
	})
	gauge("chatd_archive_lag_seconds", "Age of the oldest of these entries.", func() float64 { return archiver.Stats().Oldest.Seconds() })
	for outcome, count := range map[string]func(archive.SearchStats) int64{
		"answered": func(s archive.SearchStats) int64 { return s.Answered }, "too_long": func(s archive.SearchStats) int64 { return s.TooLong },
		"busy": func(s archive.SearchStats) int64 { return s.Busy }, "failed": func(s archive.SearchStats) int64 { return s.Failed },
	} {
		counter("chatd_searches_total", "Searches on this node, by how they ended.", prometheus.Labels{"outcome": outcome}, func() float64 {
			return float64(count(searcher.Stats()))
		})
	}
	counter("chatd_search_seconds_total", "Time that they took, with what they waited for.", nil, func() float64 { return searcher.Stats().Took.Seconds() })
	return all
}
