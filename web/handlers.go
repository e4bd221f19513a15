package web

import (
	"math"

	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/auth"
)

// handlers answer the calls of the description that the generated code binds. Each noun has a part of its own, which holds
// what its calls need.
type handlers struct {
	accountHandlers
	announcementHandlers
	auditHandlers
	batchHandlers
	blockHandlers
	draftHandlers
	pinHandlers
	presenceHandlers
	quorumHandlers
	streamHandlers
	buttonHandlers
	cursorHandlers
	deviceHandlers
	directHandlers
	doctorHandlers
	erasureHandlers
	exportHandlers
	fileHandlers
	groupHandlers
	hookHandlers
	inboxHandlers
	inviteHandlers
	keyHandlers
	meHandlers
	memberHandlers
	messageHandlers
	reportHandlers
	reviewHandlers
	scheduleHandlers
	searchHandlers
	syncHandlers
	taskHandlers
	threadHandlers
	userHandlers
	webhookHandlers
	wordHandlers
}

var _ api.StrictServerInterface = handlers{}

func newHandlers(of Services, s *Server, verify auth.Verify) handlers {
	h := handlers{
		accountHandlers:      accountHandlers{of.Accounts, verify, s.opt.Origins, s.opt.Proxies, of.Profiles},
		announcementHandlers: announcementHandlers{of.Chat, of.Announcements},
		auditHandlers:        auditHandlers{of.Audit},
		blockHandlers:        blockHandlers{of.Blocks},
		draftHandlers:        draftHandlers{of.Drafts},
		pinHandlers:          pinHandlers{of.Pins},
		quorumHandlers:       quorumHandlers{of.Quorums, s.polls},
		presenceHandlers:     presenceHandlers{of.Presence},
		streamHandlers:       streamHandlers{of.Chat, of.Streams},
		threadHandlers:       threadHandlers{of.Threads},
		buttonHandlers:       buttonHandlers{of.Buttons},
		cursorHandlers:       cursorHandlers{of.Chat, of.Live, s.polls},
		deviceHandlers:       deviceHandlers{of.Notifications},
		directHandlers:       directHandlers{of.Direct},
		doctorHandlers:       doctorHandlers{s.opt.Doctor, of.Health, s.opt.Settings},
		erasureHandlers:      erasureHandlers{of.Erasures, of.Users, of.Accounts},
		exportHandlers:       exportHandlers{of.Exports, of.Persons, s.polls},
		fileHandlers:         fileHandlers{of.Chat, of.Files, s.log},
		groupHandlers:        groupHandlers{of.Chat, of.Directory},
		hookHandlers:         hookHandlers{of.Chat, of.Hooks},
		inboxHandlers:        inboxHandlers{of.Chat, of.Profiles, of.Schedules, &s.opt.Meter.Messages},
		inviteHandlers:       inviteHandlers{of.Chat, of.Invites, s.opt.Origins},
		keyHandlers:          keyHandlers{of.Chat, of.Keys},
		meHandlers:           meHandlers{of.Profiles},
		memberHandlers:       memberHandlers{of.MemberData, of.Rules, of.Chat, of.Members},
		messageHandlers:      messageHandlers{of.Chat, of.Schedules, of.Profiles, of.Previews, s.opt.Durability, &s.opt.Meter.Messages, of.Quorums},
		reportHandlers:       reportHandlers{of.Reports},
		reviewHandlers:       reviewHandlers{of.Reviews},
		scheduleHandlers:     scheduleHandlers{of.Chat, of.Schedules},
		searchHandlers:       searchHandlers{of.Search},
		syncHandlers:         syncHandlers{of.Live, of.Profiles, of.Previews, s.polls, &s.opt.Limits},
		taskHandlers:         taskHandlers{s.opt.Tasks, s.log},
		userHandlers:         userHandlers{of.Users, of.Profiles},
		webhookHandlers:      webhookHandlers{of.Chat, of.Webhooks},
		wordHandlers:         wordHandlers{of.Words},
	}
	h.batchHandlers = newBatchHandlers(h, of, s)
	return h
}

// deref is the value, or the zero value of an absent field.
func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// given is nil for the empty value, which stands for an absent field.
func given[T ~string](value T) *T {
	if value == "" {
		return nil
	}
	return &value
}

// limitOf is the limit as the domain takes it: 0 for the default. The domain bounds it.
func limitOf(most *int64) int { return int(min(deref(most), math.MaxInt32)) }

// next is the cursor of the following page, null at the end.
func next(cursor string) *string {
	if cursor == "" {
		return nil
	}
	return &cursor
}

// orEmpty makes clients see an empty list as [].
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
