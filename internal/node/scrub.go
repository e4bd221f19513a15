package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/store"
	sqlarchive "github.com/chatd/chatd/store/archive"
)

// Scrub rewrites the files of the configured store and archive, so that they hold nothing that was deleted or erased, and says what
// it rewrote. The archive takes over first what it does not know yet, and the records of files that no message names go. Erasures that are under way are an error, when all is done.
func (c Config) Scrub(ctx context.Context, output io.Writer, say func(line string) error) (err error) {
	set, err := c.checkForStore()
	if err != nil {
		return err
	}
	s, err := set.open(ctx, store.Options{Existing: true}, newLogger(set, output))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if s.Conn().IsCluster() {
		return errors.New("this version of chatd cannot rewrite the files of a Redis Cluster: run BGREWRITEAOF and BGSAVE on each of its nodes yourself")
	}
	if err := set.scrubArchive(ctx, s.Store, say); err != nil {
		return err
	}
	if err := eachGroup(ctx, s.Store, func(name string) error { return expireFiles(ctx, s.Store, name) }); err != nil {
		return err
	}
	done := []string{"embedded store: rewritten as a new snapshot with an empty journal"}
	if s.server != nil {
		err = s.server.Compact()
	} else {
		done, err = s.Conn().Scrub(ctx)
	}
	if err := errors.Join(err, sayAll(say, done)); err != nil {
		return err
	}
	if n, err := s.ErasuresUnderWay(ctx); err != nil || n > 0 {
		return errors.Join(err, fmt.Errorf("%d erasures are still running: repeat this once they have finished", n))
	}
	return nil
}

func sayAll(say func(string) error, lines []string) (err error) {
	for _, line := range lines {
		err = errors.Join(err, say(line))
	}
	return err
}

// scrubArchive has the archive take over what it lacks, deletions above all, and rewrites its files.
func (s *settings) scrubArchive(ctx context.Context, groups *store.Store, say func(string) error) (err error) {
	state, err := groups.ArchiveState(ctx)
	if err == nil && state.On && !s.archived() {
		err = errors.New("CHATD_ARCHIVE is not set, but this store has an archive: set it to the database that its nodes use")
	}
	if err != nil || !s.archived() {
		return err
	}
	db, err := sqlarchive.Open(ctx, s.Archive)
	if err != nil {
		return fmt.Errorf("CHATD_ARCHIVE: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if id, err := db.ID(ctx); err != nil || state.On && id != state.ID {
		return errors.Join(err, archive.OtherDatabase(id, state.ID))
	}
	if state.On {
		if err := catchUp(ctx, groups, archive.New(groups, db, archive.Options{})); err != nil {
			return err
		}
	}
	done, left, err := db.Scrub(ctx)
	return errors.Join(err, sayAll(say, done), sayAll(say, left))
}

// catchUp archives every group to its end.
func catchUp(ctx context.Context, groups *store.Store, archiver *archive.Archiver) error {
	return eachGroup(ctx, groups, func(name string) error {
		if err := archiver.CatchUp(ctx, name, chat.IDMax); err != nil && !errors.Is(err, chat.ErrNotFound) {
			return fmt.Errorf("cannot archive the newest messages of group %s: %w", strings.ToValidUTF8(name, "?"), err)
		}
		return nil
	})
}

// expireFiles removes what the store knows of files that no message of a group names. Nodes remove the bytes.
func expireFiles(ctx context.Context, groups *store.Store, name string) error {
	for {
		if more, err := groups.ExpireFiles(ctx, name); err != nil || !more {
			return err
		}
	}
}

func eachGroup(ctx context.Context, groups *store.Store, do func(name string) error) error {
	for cursor := uint64(0); ; {
		names, next, err := groups.GroupIDs(ctx, cursor)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := do(name); err != nil {
				return err
			}
		}
		if next == 0 {
			return nil
		}
		cursor = next
	}
}
