package node

import "github.com/chatd/chatd/store"

// What the parts of the domain ask of a store, where that is in more than one part of ours.
type (
	archiveStore struct {
		*store.Archive
		*store.Groups
		*store.Tasks
	}
	announceStore struct {
		*store.Announcements
		*store.Schedules
	}
	eraseStore struct {
		*store.Erasures
		*store.Files
		*store.Groups
	}
	notifyStore struct {
		*store.Notifications
		*store.Inboxes
		*store.Logs
		*store.Tasks
	}
)
