// Package person gathers everything about one user, for that user.
package person

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/accounts"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/blocks"
	"github.com/chatd/chatd/chat/drafts"
	"github.com/chatd/chatd/chat/exports"
	"github.com/chatd/chatd/chat/invite"
	"github.com/chatd/chatd/chat/memberdata"
	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/chat/reports"
	"github.com/chatd/chatd/chat/reviews"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/chat/threads"
	"github.com/chatd/chatd/chat/users"
)

// Record is one thing about a user: one of its fields is there.
type Record struct {
	Group    *chat.GroupView    `json:"group,omitempty"`     // that the user is a member of, with their cursors
	Member   *Membership        `json:"member,omitempty"`    // what is noted about the user in such a group
	Thread   *Following         `json:"thread,omitempty"`    // that the user follows in such a group, and that has replies
	Message  json.RawMessage    `json:"message,omitempty"`   // an entry that the user wrote, of any kind, as it reads now
	Item     json.RawMessage    `json:"item,omitempty"`      // of the user's inbox
	Schedule *schedule.Schedule `json:"schedule,omitempty"`  // of the user
	Device   *notify.DeviceView `json:"device,omitempty"`    // without its secrets
	Profile  *profiles.Own      `json:"profile,omitempty"`   // of the user, if there is one
	LastSeen *LastSeen          `json:"last_seen,omitempty"` // when the user was last seen, as operators see it
	Avatar   *profiles.Avatar   `json:"avatar,omitempty"`    // the picture that the user uploaded
	Account  *accounts.Own      `json:"account,omitempty"`   // of a user who signs in here
	Login    *accounts.Login    `json:"login,omitempty"`     // that holds, without its secret
	Session  *users.Session     `json:"session,omitempty"`   // that is open now
	Block    *blocks.Block      `json:"block,omitempty"`     // of another user by this one
	Draft    *drafts.Of         `json:"draft,omitempty"`     // what the user has begun to write
	Review   *reviews.View      `json:"review,omitempty"`    // a message of the user that waits for a moderator
	Report   *reports.Report    `json:"report,omitempty"`    // that the user made in such a group and is open, without the message
	Invite   *invite.Invite     `json:"invite,omitempty"`    // that the user made, without its code: to these groups, and without a group
}

// LastSeen is when a user was last seen.
type LastSeen struct {
	At chat.Time `json:"at"`
}

// Membership has the custom fields of the user in a group.
type Membership struct {
	Group string          `json:"group"`
	Data  json.RawMessage `json:"data"`
}

// Archive has messages of users, also of groups that they have left.
type Archive interface {
	// Authored finds texts and data that have content, oldest first, behind a Doc.
	Authored(ctx context.Context, user string, after int64, limit int) ([]archive.Authored, error)
	// Entries is that of archive.Store.
	Entries(ctx context.Context, log archive.Log, ids []int64) ([]chat.Message, error)
}

// Bounds of exports.
const (
	page        = 100             // things that are in memory at once
	entriesMax  = 8               // of these where they are entries of the archive: nobody knows how long they are
	readingMax  = 2               // exports of a node that read at once: each reads the logs of all groups of its user
	readingWait = 5 * time.Second // how long one waits to begin
)

// Service exports users.
type Service struct {
	core *chat.Service
	from Sources

	reading chan struct{} // has an entry for each export that reads, and none for those that are being taken by their clients

	mu      sync.Mutex
	running map[string]bool // users whose export runs
}

// Sources are the parts that know something of a user.
type Sources struct {
	Exports       *exports.Service
	MemberData    *memberdata.Service
	Blocks        *blocks.Service
	Drafts        *drafts.Service
	Threads       *threads.Service
	Reports       *reports.Service
	Reviews       *reviews.Service
	Schedules     *schedule.Service
	Notifications *notify.Service
	Profiles      *profiles.Service
	Accounts      *accounts.Service // nil: nobody signs in here
	Invites       *invite.Service
	Users         *users.Service
	Archive       Archive // nil: there is none
}

// New makes a Service.
func New(core *chat.Service, from Sources) *Service {
	return &Service{core: core, from: from,
		reading: make(chan struct{}, readingMax), running: map[string]bool{}}
}

var errBusy = &chat.Error{Code: chat.CodeUnavailable, Message: "an export of this user runs, or too many others do; try again later",
	RetryAfter: 10 * time.Second}

// Begin begins the only export of a user. The caller calls end, once.
func (s *Service) Begin(by chat.Caller) (end func(), err error) {
	if err := chat.CheckCaller(by); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[by.User] {
		return nil, errBusy
	}
	s.running[by.User] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.running, by.User)
	}, nil
}

// Export hands everything about by to write, in small parts, which may be empty: groups, then entries by group, entries of the archive
// in groups that the user has left, the inbox, schedules, devices, the profile, when the user was last seen, how they sign in, and whom they block. What comes or goes meanwhile may be
// missing. While write runs, another export may read. ErrUnavailable: too many others read.
func (s *Service) Export(ctx context.Context, by chat.Caller, write func([]Record) error) error {
	begin, cancel := context.WithTimeout(ctx, readingWait)
	defer cancel()
	if s.enter(begin) != nil {
		return errBusy
	}
	e := &export{Service: s, by: by, logs: map[archive.Log]bool{}, former: map[string]former{}}
	reading := true
	defer func() {
		if reading {
			s.leave()
		}
	}()
	e.write = func(records []Record) error {
		s.leave()
		reading = false
		err := write(records)
		if err == nil {
			err = s.enter(ctx)
		}
		reading = err == nil
		return err
	}
	for _, step := range []func(context.Context) error{e.groups, e.left, e.inbox, e.scheduled, e.devices, e.profile, e.lastSeen, e.account, e.sessions, e.invites, e.blocks, e.drafts, e.reviews} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// enter waits until an export may read. Exports take turns, for each enters again for every part.
func (s *Service) enter(ctx context.Context) error {
	select {
	case s.reading <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Service) leave() { <-s.reading }

type export struct {
	*Service
	by    chat.Caller
	write func([]Record) error
	logs  map[archive.Log]bool // whose entries are written
	// former is up to which id, in which log, entries are of someone else who had the name: by group, as far as it was read.
	former map[string]former
}

type former struct {
	epoch string
	last  int64
}

// others tells up to which id the entries of a log are of someone else who had the name of the user.
func (e *export) others(ctx context.Context, log archive.Log) (int64, error) {
	f, ok := e.former[log.Group]
	if !ok {
		var err error
		if f.epoch, f.last, err = e.core.Former(ctx, log.Group, e.by.User); err != nil {
			return 0, err
		}
		e.former[log.Group] = f
	}
	if f.epoch != log.Epoch {
		return 0, nil
	}
	return f.last, nil
}

func (e *export) groups(ctx context.Context) error {
	var all []string
	for cursor := ""; ; {
		list, err := e.core.Groups(ctx, e.by, page, cursor)
		if err != nil {
			return err
		}
		records := make([]Record, len(list.Items))
		for i := range list.Items {
			records[i].Group = &list.Items[i]
			all = append(all, list.Items[i].ID)
			e.logs[archive.Log{Group: list.Items[i].ID, Epoch: list.Items[i].Epoch}] = true
		}
		if err := e.write(records); err != nil {
			return err
		}
		if cursor = list.Next; cursor == "" {
			break
		}
	}
	for _, group := range all {
		if err := e.member(ctx, group); err != nil {
			return err
		}
		if err := e.group(ctx, group); err != nil {
			return err
		}
		if err := e.threads(ctx, group); err != nil {
			return err
		}
		if err := e.invited(ctx, group); err != nil {
			return err
		}
		if err := e.reports(ctx, group); err != nil {
			return err
		}
	}
	return nil
}

// invited writes the invitations that the user made to a group, or without one.
func (e *export) invited(ctx context.Context, group string) error {
	made, err := e.from.Invites.MadeBy(ctx, e.by, group)
	if err != nil || len(made) == 0 {
		return err
	}
	records := make([]Record, len(made))
	for i := range made {
		records[i].Invite = &made[i]
	}
	return e.write(records)
}

// reports writes what the user reported in a group.
func (e *export) reports(ctx context.Context, group string) error {
	made, err := e.from.Reports.MadeBy(ctx, e.by, group)
	if err != nil || len(made) == 0 {
		return err
	}
	records := make([]Record, len(made))
	for i := range made {
		records[i].Report = &made[i]
	}
	return e.write(records)
}

func (e *export) invites(ctx context.Context) error { return e.invited(ctx, "") }

// blocks writes whom the user blocks.
func (e *export) blocks(ctx context.Context) error {
	for cursor := ""; ; {
		list, err := e.from.Blocks.List(ctx, e.by, page, cursor)
		if err != nil {
			return err
		}
		records := make([]Record, len(list.Items))
		for i := range list.Items {
			records[i].Block = &list.Items[i]
		}
		if err := e.write(records); err != nil || list.Next == "" {
			return err
		}
		cursor = list.Next
	}
}

// drafts writes what the user has begun to write.
func (e *export) drafts(ctx context.Context) error {
	own, err := e.from.Drafts.Own(ctx, e.by)
	if err != nil || len(own) == 0 {
		return err
	}
	records := make([]Record, len(own))
	for i := range own {
		records[i].Draft = &own[i]
	}
	return e.write(records)
}

// reviews writes what of the user waits for a moderator.
func (e *export) reviews(ctx context.Context) error {
	made, err := e.from.Reviews.MadeBy(ctx, e.by)
	if err != nil || len(made) == 0 {
		return err
	}
	records := make([]Record, len(made))
	for i := range made {
		records[i].Review = &made[i]
	}
	return e.write(records)
}

// member writes the custom fields of the user in a group, if there are any.
func (e *export) member(ctx context.Context, group string) error {
	data, err := e.from.MemberData.Own(ctx, e.by, group)
	if err != nil || data == nil {
		return err
	}
	return e.write([]Record{{Member: &Membership{Group: group, Data: data}}})
}

// group writes the entries of the user in a group.
func (e *export) group(ctx context.Context, group string) error {
	log, err := e.from.Exports.Own(ctx, e.by, group)
	for err == nil && !log.Done() {
		var messages []chat.Message
		if messages, err = log.Next(ctx); err == nil {
			err = e.messages(ctx, archive.Log{Group: group, Epoch: log.Epoch()}, messages)
		}
	}
	return unlessLeft(err)
}

// messages writes those that the user wrote.
func (e *export) messages(ctx context.Context, log archive.Log, list []chat.Message) error {
	others, err := e.others(ctx, log)
	if err != nil {
		return err
	}
	var records []Record
	for _, m := range list {
		var entry chat.Entry
		if err := json.Unmarshal(m.JSON, &entry); err != nil {
			return err
		}
		if entry.From == e.by.User && entry.Kind != chat.Notice && m.ID > others {
			records = append(records, Record{Message: m.JSON})
		}
	}
	return e.write(records)
}

// left writes messages of logs that the user can no longer read.
func (e *export) left(ctx context.Context) error {
	if e.from.Archive == nil {
		return nil
	}
	for after := int64(0); ; {
		list, err := e.from.Archive.Authored(ctx, e.by.User, after, page)
		if err != nil || len(list) == 0 {
			return err
		}
		ids := map[archive.Log][]int64{}
		for _, one := range list {
			if !e.logs[one.Log] {
				ids[one.Log] = append(ids[one.Log], one.ID)
			}
		}
		for log, all := range ids {
			for some := range slices.Chunk(all, entriesMax) {
				messages, err := e.from.Archive.Entries(ctx, log, some)
				if err == nil {
					err = e.messages(ctx, log, chat.LiveAll(messages, e.core.Options().StoreNow()))
				}
				if err != nil {
					return err
				}
			}
		}
		after = list[len(list)-1].Doc
	}
}

func (e *export) inbox(ctx context.Context) error {
	for after := (chat.Position{Set: true}); ; {
		batch, err := e.core.Inbox(ctx, e.by, after, page)
		if err != nil {
			return err
		}
		records := make([]Record, len(batch.Items))
		for i, item := range batch.Items {
			records[i].Item = item.JSON
		}
		if err := e.write(records); err != nil || !batch.HasMore {
			return err
		}
		if after, err = chat.ParsePosition(batch.Cursor); err != nil {
			return err
		}
	}
}

func (e *export) scheduled(ctx context.Context) error {
	for cursor := ""; ; {
		list, err := e.from.Schedules.List(ctx, e.by, page, cursor)
		if err != nil {
			return err
		}
		records := make([]Record, len(list.Items))
		for i := range list.Items {
			records[i].Schedule = &list.Items[i]
		}
		if err := e.write(records); err != nil || list.Next == "" {
			return err
		}
		cursor = list.Next
	}
}

func (e *export) devices(ctx context.Context) error {
	list, err := e.from.Notifications.Devices(ctx, e.by)
	if err != nil {
		return err
	}
	records := make([]Record, len(list))
	for i := range list {
		records[i].Device = &list[i]
	}
	return e.write(records)
}

func (e *export) profile(ctx context.Context) error {
	own, err := e.from.Profiles.Get(ctx, e.by.User)
	if err != nil || own.Version == 0 {
		return err
	}
	records := []Record{{Profile: &own}}
	avatar, err := e.from.Profiles.OwnAvatar(ctx, own)
	if err != nil {
		return err
	}
	if avatar != nil {
		records = append(records, Record{Avatar: avatar})
	}
	return e.write(records)
}

// lastSeen writes when the user was last seen.
func (e *export) lastSeen(ctx context.Context) error {
	last, err := e.from.Profiles.LastSeen(ctx, []string{e.by.User})
	if err != nil || last[0] == nil {
		return err
	}
	return e.write([]Record{{LastSeen: &LastSeen{At: *last[0]}}})
}

// account writes how the user signs in here, and on which devices.
func (e *export) account(ctx context.Context) error {
	if e.from.Accounts == nil {
		return nil
	}
	own, err := e.from.Accounts.Own(ctx, e.by.User)
	if err != nil || own == nil {
		return err
	}
	logins, err := e.from.Accounts.Logins(ctx, e.by.User, "")
	if err != nil {
		return err
	}
	records := make([]Record, 1, 1+len(logins))
	records[0].Account = own
	for i := range logins {
		records = append(records, Record{Login: &logins[i]})
	}
	return e.write(records)
}

func (e *export) sessions(ctx context.Context) error {
	list, err := e.from.Users.Sessions(ctx, e.by.User)
	if err != nil || len(list) == 0 {
		return err
	}
	records := make([]Record, len(list))
	for i := range list {
		records[i].Session = &list[i]
	}
	return e.write(records)
}
