package profiles

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/table"
	"github.com/chatd/chatd/internal/cache"
)

// TableName is the name under which changes of profiles are published.
const TableName = "profiles"

// writeTries is how often a change is tried that meets others of the same profile.
const writeTries = 8

// Directory says whom a caller finds.
type Directory string

// Users who share a group with the caller, all whom the server knows, or nobody.
const (
	DirectoryShared Directory = "shared"
	DirectoryAll    Directory = "all"
	DirectoryOff    Directory = "off"
)

// Options of a Service.
type Options struct {
	Directory Directory
	Claims    []string // fields that come from the tokens of users: name, picture
	// Draw makes an avatar of what a user uploaded: its type and its bytes.
	Draw func(ctx context.Context, user string, upload []byte) (kind string, content []byte, err error)
	Now  func() time.Time
	Log  *slog.Logger
}

// Users knows what is decided about users.
type Users interface {
	Disabled(user string) bool
	Operator(user string) bool
	// Decide changes whether a user is disabled and an operator, where that is not nil, and tells whether it was different before.
	Decide(ctx context.Context, by chat.Caller, user string, disabled, operator *bool) (changed bool, err error)
}

// Service keeps profiles. It is safe for concurrent use.
type Service struct {
	Receipts *Receipts

	store     Store
	users     Users
	opt       Options
	published *table.Published
	known     *known
	seen      *seen
	filled    *cache.Cache[string, Claims] // what their tokens said last of users whose profile is like that
}

// New makes a Service. Its Published has to be followed.
func New(store Store, decided Users, opt Options) *Service {
	s := &Service{store: store, users: decided, opt: opt, known: newKnown(), seen: newSeen(), filled: cache.New[string, Claims](filledMax)}
	s.Receipts = newReceipts(store, opt.Log)
	s.published = table.NewPublished(TableName, s.known.drop, s.known.dropAll)
	return s
}

// refuse refuses a change of what comes from tokens.
func (o *Options) refuse(c Change) error {
	for field, value := range map[string]json.RawMessage{fieldName: c.Name, fieldPicture: c.Picture} {
		if len(value) > 0 && slices.Contains(o.Claims, field) {
			return chat.Errorf(chat.CodeForbidden, "%s: comes from your token", field)
		}
	}
	return nil
}

// Published follows what is published about profiles.
func (s *Service) Published() *table.Published { return s.published }

// View is a user as others see them.
type View struct {
	User    string          `json:"user"`
	Name    string          `json:"name,omitempty"`
	Picture string          `json:"picture,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
	Status  *Status         `json:"status,omitempty"`
	Version int64           `json:"version"` // 0: the user has no profile
	*Decided
	*Seen
}

// Decided is what only operators see of a user.
type Decided struct {
	Role     *string `json:"role"`
	Disabled bool    `json:"disabled"`
}

// Seen is when a user was seen: operators see it, and of those who do not hide, to five minutes, who may see the user.
type Seen struct {
	LastSeenAt *chat.Time `json:"last_seen_at"` // nil: nobody knows
}

func (s *Service) view(user string, stored Stored) (View, error) {
	r, err := stored.read()
	if err != nil {
		return View{}, err
	}
	v := View{User: user, Name: r.Name, Picture: r.Picture, Data: r.Data, Status: r.Status, Version: stored.Version}
	if v.Status != nil && v.Status.Until != nil && !v.Status.Until.After(s.opt.Now()) {
		v.Status = nil
	}
	return v, nil
}

// RoleAdmin is the role of operators.
const RoleAdmin = "admin"

// Own is a user as they see themselves.
type Own struct {
	View
	Role     string          `json:"role,omitempty"` // admin: an operator
	Receipts string          `json:"receipts"`       // shown or hidden: whether others see what the user has seen and read
	Settings json.RawMessage `json:"settings,omitempty"`
	Presence Presence        `json:"presence"`
}

// Get reads the caller's own profile.
func (s *Service) Get(ctx context.Context, user string) (Own, error) {
	stored, err := s.store.ReadProfile(ctx, user)
	if err != nil {
		return Own{}, chat.AsError(err)
	}
	return s.own(user, stored)
}

func (s *Service) own(user string, stored Stored) (Own, error) {
	v, err := s.view(user, stored)
	if err != nil {
		return Own{}, chat.AsError(err)
	}
	r, err := stored.read()
	return Own{View: v, Settings: json.RawMessage(stored.Settings), Receipts: s.Receipts.of(user), Presence: cmp.Or(r.Presence, PresenceShown)}, chat.AsError(err)
}

// Patch changes the caller's own profile. match tells whether it may be changed as it is, by its version; nil: in any case. ErrConflict:
// it may not. ErrForbidden: an operator has set the field, or tokens do.
func (s *Service) Patch(ctx context.Context, user string, c Change, match func(version int64) bool) (Own, error) {
	return s.patch(ctx, user, match, func(before Stored) (Write, error) {
		if err := s.opt.refuse(c); err != nil {
			return Write{}, err
		}
		after, err := before.changed(c, false, s.opt.Now())
		return Write{User: user, Stored: after, WithSettings: len(c.Settings) > 0}, err
	})
}

// patch writes what change makes of the profile of a user, again where another change came between.
func (s *Service) patch(ctx context.Context, user string, match func(version int64) bool, change func(before Stored) (Write, error)) (Own, error) {
	for try := 1; ; try++ {
		before, err := s.store.ReadProfile(ctx, user)
		if err != nil {
			return Own{}, chat.AsError(err)
		}
		if match != nil && !match(before.Version) {
			return Own{}, chat.ErrConflict
		}
		write, err := change(before)
		if err != nil {
			return Own{}, chat.AsError(err)
		}
		after := write.Stored
		if after != before {
			versions, errs, err := s.putAll(ctx, []Write{write})
			switch {
			case err != nil:
				return Own{}, err
			case errors.Is(errs[0], chat.ErrConflict) && match == nil && try < writeTries:
				continue
			case errs[0] != nil:
				return Own{}, chat.AsError(errs[0])
			}
			after.Version = versions[0]
		}
		// Published also where nothing has changed: the call may repeat one whose node died before it did.
		if after.Version > 0 {
			if err := s.publish(ctx, []string{user}); err != nil {
				return Own{}, err
			}
		}
		return s.own(user, after)
	}
}

// putAll writes profiles. The first one of a store is published before it is written, too: nodes read no profiles until they learn of one, and would
// never learn of it if this node died in between.
func (s *Service) putAll(ctx context.Context, writes []Write) (versions []int64, errs []error, err error) {
	if !s.published.Any() {
		if err := s.publish(ctx, nil); err != nil {
			return nil, nil, err
		}
	}
	for i := range writes {
		r, err := writes[i].read()
		if err != nil {
			return nil, nil, chat.AsError(err)
		}
		writes[i].Words, writes[i].AvatarID, writes[i].Hides = wordsOf(writes[i].User, r.Name), avatarOf(r.Picture), r.Presence == PresenceHidden
	}
	versions, errs, err = s.store.PutProfiles(ctx, writes)
	return versions, errs, chat.AsError(err)
}

// publish has all nodes drop what they know of users, this one at once.
func (s *Service) publish(ctx context.Context, users []string) error {
	s.known.drop(users)
	if err := s.store.PublishChanges(ctx, TableName, users); err != nil {
		return chat.AsError(err)
	}
	s.published.Note()
	return nil
}

// PutMax is how many users one call changes.
const PutMax = 1000

// Version is a user that was changed.
type Version struct {
	User    string `json:"user"`
	Version int64  `json:"version"`
}

// Refusal is a user that could not be changed.
type Refusal struct {
	User  string    `json:"user"`
	Code  chat.Code `json:"code"`
	Cause error     `json:"-"`
}

// UserChange is what Put changes of a user.
type UserChange struct {
	User               string
	Profile            Change
	Disabled, Operator *bool // nil: that stays
}

// Put changes users for by, an operator: what is set is pinned against the user's own change. Users are changed in order; what cannot be changed does
// not keep others from it. A failure of the store ends it, and the call may be repeated. match is that of Patch, for the only user of the call.
func (s *Service) Put(ctx context.Context, by chat.Caller, changes []UserChange, match func(version int64) bool) (done []Version, refused []Refusal, err error) {
	if len(changes) > PutMax {
		return nil, nil, chat.Errorf(chat.CodeOutOfRange, "users: at most %d", PutMax)
	}
	results := make([]result, len(changes))
	for begin := 0; begin < len(changes); {
		end, seen := begin, map[string]bool{}
		for ; end < len(changes) && !seen[changes[end].User]; end++ {
			seen[changes[end].User] = true
		}
		if err := s.putDistinct(ctx, by, changes[begin:end], results[begin:end], match); err != nil {
			return nil, nil, err
		}
		begin = end
	}
	done, refused = []Version{}, []Refusal{}
	var changed []string
	for i, r := range results {
		user := changes[i].User
		switch {
		case match != nil && errors.Is(r.err, chat.ErrConflict):
			return nil, nil, r.err
		case r.err != nil:
			refused = append(refused, Refusal{User: user, Code: chat.CodeOf(r.err), Cause: r.err})
			continue
		case r.version > 0:
			// Published also where nothing has changed: the call may repeat one whose node died before it did.
			changed = append(changed, user)
		}
		done = append(done, Version{User: user, Version: r.version})
	}
	if len(changed) > 0 {
		err = s.publish(ctx, changed)
	}
	return done, refused, err
}

// result is what came of the change of one user.
type result struct {
	version int64
	err     error
	decided bool // whether the user is disabled, or an operator, has changed, which shows in the version
}

// putDistinct changes users who are all different. Those that meet other changes are tried again. Its error is one of the store.
func (s *Service) putDistinct(ctx context.Context, by chat.Caller, changes []UserChange, results []result, match func(version int64) bool) error {
	var left []int
	for i, c := range changes {
		if results[i].err = chat.CheckUserID("user", c.User); results[i].err == nil {
			left = append(left, i)
		}
	}
	for try := 1; len(left) > 0; try++ {
		names := make([]string, len(left))
		for n, i := range left {
			names[n] = changes[i].User
		}
		before, err := s.store.ReadProfiles(ctx, names)
		if err != nil {
			return chat.AsError(err)
		}
		var writes []Write
		var asked []int
		for n, i := range left {
			after, err := s.put(ctx, by, changes[i], before[n], &results[i], match)
			switch code := chat.CodeOf(err); {
			case code == chat.CodeUnavailable, code == chat.CodeInternal:
				return err
			case err != nil:
				results[i].err = err
			case after != before[n] || results[i].decided:
				writes, asked = append(writes, Write{User: names[n], Stored: after}), append(asked, i)
			default:
				results[i].version = before[n].Version
			}
		}
		left = nil
		if len(writes) == 0 {
			return nil
		}
		versions, errs, err := s.putAll(ctx, writes)
		if err != nil {
			return err
		}
		for n, i := range asked {
			results[i].version, results[i].err = versions[n], errs[n]
			if errors.Is(errs[n], chat.ErrConflict) && match == nil && try < writeTries {
				left = append(left, i)
			}
		}
	}
	return nil
}

// put makes the change of one user to what is stored, and writes what is decided about them.
func (s *Service) put(ctx context.Context, by chat.Caller, c UserChange, before Stored, r *result, match func(version int64) bool) (after Stored, err error) {
	if match != nil && !match(before.Version) {
		return before, chat.ErrConflict
	}
	if after, err = before.changed(c.Profile, true, s.opt.Now()); err != nil || c.Disabled == nil && c.Operator == nil {
		return after, chat.AsError(err)
	}
	changed, err := s.users.Decide(ctx, by, c.User, c.Disabled, c.Operator)
	r.decided = r.decided || changed
	return after, err
}
