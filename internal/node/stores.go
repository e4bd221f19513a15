package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/embedded"
)

// What the parts of the domain ask of a store, where that is in more than one part of ours.
type (
	archiveStore struct {
		*store.Archive
		*store.Groups
		*store.Tasks
	}
	accountStore struct {
		*store.Accounts
		*store.Erasures
		*store.Tables
	}
	announceStore struct {
		*store.Announcements
		*store.Schedules
	}
	directoryStore struct {
		*store.Directory
		*store.Groups
		*store.Index
		*store.Tasks
	}
	eraseStore struct {
		*store.Erasures
		*store.Files
		*store.Groups
		*store.Audits
		*store.Pins
	}
	ruleStore struct {
		*store.Groups
		*store.Pins
		*store.Tasks
	}
	usersStore struct {
		*store.Tables
		*store.Notifications
	}
	profilesStore struct {
		*store.Profiles
		*store.Tables
	}
	presenceStore struct {
		*store.Notifications
		*store.Profiles
	}
	notifyStore struct {
		*store.Notifications
		*store.Inboxes
		*store.Logs
		*store.Threads
		*store.Tasks
		nowMs func() int64 // by the clock of the store
	}
)

// Pull reads what a notification shows: nothing that had to go by now.
func (s notifyStore) Pull(ctx context.Context, user string, pulls []chat.Pull) ([]chat.Page, error) {
	pages, err := s.Logs.Pull(ctx, user, pulls)
	for i := range pages {
		pages[i].Messages = chat.LiveAll(pages[i].Messages, s.nowMs())
	}
	return pages, err
}

// InboxPull is Pull for items of an inbox.
func (s notifyStore) InboxPull(ctx context.Context, user string, after chat.Position, limit int) (chat.InboxBatch, error) {
	b, err := s.Inboxes.InboxPull(ctx, user, after, limit)
	b.Items = chat.LiveItems(b.Items, s.nowMs())
	return b, err
}

// opened is the configured store, and the embedded server that it is in.
type opened struct {
	*store.Store
	server *embedded.Store // nil with Redis
}

var (
	errNoStore = errors.New("there is no embedded store")
	errRunning = errors.New("a server is running with this data; stop it first")
)

// open opens the configured store; log gets what its server says. errNoStore: it must exist and does not. errRunning: the folder
// of an embedded store is in use. An error of Redis names the setting with the address.
func (s settings) open(ctx context.Context, o store.Options, log *slog.Logger) (to opened, err error) {
	o.URL, o.Prefix, o.Limits = s.Redis, s.Prefix, s.limits
	if s.Redis != "" {
		if to.Store, err = store.Open(ctx, o); err != nil {
			key := "CHATD_REDIS"
			if s.RedisFile != "" {
				key = "CHATD_REDIS_FILE"
			}
			err = fmt.Errorf("%s: %w", key, err)
		}
		return to, err
	}
	dir := filepath.Join(s.Data, "store")
	if _, err := os.Stat(dir); o.Existing && err != nil {
		return to, fmt.Errorf("%w in %s: set CHATD_DATA to its folder, or CHATD_REDIS", errNoStore, dir)
	}
	to.server, err = embedded.Open(ctx, embedded.Options{Dir: dir, Log: log})
	switch {
	case errors.Is(err, embedded.ErrLocked):
		return to, fmt.Errorf("%s: %w", absolute(s.Data), errRunning)
	case err != nil:
		return to, fmt.Errorf("the embedded store in %s: %w", dir, err)
	}
	o.Embedded = to.server
	if to.Store, err = store.Open(ctx, o); err != nil {
		err = errors.Join(err, to.server.Close())
	}
	return to, err
}

// Close closes both.
func (o opened) Close() error {
	err := o.Store.Close()
	if o.server != nil {
		err = errors.Join(err, o.server.Close())
	}
	return err
}
