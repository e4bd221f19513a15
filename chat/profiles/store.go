package profiles

import (
	"context"

	"github.com/chatd/chatd/chat/table"
)

// Stored is a profile as the store has it.
type Stored struct {
	Version  int64  // of the last change; 0: there is none
	Text     string // JSON of a record
	Settings string // JSON; empty: none, or they were not read
}

// Write is a profile to be written.
type Write struct {
	User string
	Stored
	WithSettings bool     // otherwise they stay
	Words        []string // by which it is found, folded
	AvatarID     string   // of the avatar that the picture names; one that was kept and is another one goes. Empty: none
	Hides        bool     // others do not see where the user is
	Avatar       *Avatar  // its type and bytes; nil: it is kept already
}

// Avatar is a picture of a user that the server keeps.
type Avatar struct {
	Type    string `json:"type"` // image/jpeg or image/png
	Content []byte `json:"content"`
}

// Acquaintance is what two users may have in common, from the side of one of them.
type Acquaintance struct {
	Groups []string // according to the index
	Wrote  bool     // one of them has an item of the other in the inbox
}

// Membership asks whether a user is in a group.
type Membership struct{ Group, User string }

// Store is what profiles need from a store.
type Store interface {
	table.Rows
	// ReadProfiles reads the profiles of users, in order and without settings, in one round trip for each 500.
	ReadProfiles(ctx context.Context, users []string) ([]Stored, error)
	// ReadProfile reads the profile of a user with the settings.
	ReadProfile(ctx context.Context, user string) (Stored, error)
	// PutProfiles writes profiles, each in the place of the version that was read and in a step of its own, and returns their new
	// versions. ErrConflict among errs: that profile has another version by now.
	PutProfiles(ctx context.Context, writes []Write) (versions []int64, errs []error, err error)
	// NewAvatarID makes an id for an avatar of the user. Nobody guesses it.
	NewAvatarID(user string) string
	// ReadAvatar reads an avatar; chat.ErrNotFound.
	ReadAvatar(ctx context.Context, id string) (Avatar, error)
	// PublishChanges tells all nodes that profiles have changed.
	PublishChanges(ctx context.Context, table string, users []string) error
	// FindUsers reads entries of the index of names that begin with a folded text, and of the list of known users that begin with an exact one, behind
	// the entry after, in the order of their keys; at most limit.
	FindUsers(ctx context.Context, folded, exact, after string, limit int) ([]Found, error)
	// KnownUsers tells of each user whether the server has ever known them.
	KnownUsers(ctx context.Context, users []string) ([]bool, error)
	// Acquaintances reads the groups of by, and what each of users may have in common with by.
	Acquaintances(ctx context.Context, by string, users []string) (own []string, others []Acquaintance, err error)
	// AreMembers tells of each user whether they are in the group now.
	AreMembers(ctx context.Context, asked []Membership) ([]bool, error)
	// SawUsers notes when users were last seen, in ms, unless they were seen later or nobody knows them. It is atomic for each user.
	SawUsers(ctx context.Context, at map[string]int64) error
	// Hidden tells whether a user hides where they are.
	Hidden(ctx context.Context, user string) (bool, error)
	// LastSeen tells of each user when they were last seen, in ms: now for those who have a session, 0 for nobody knows.
	LastSeen(ctx context.Context, users []string) ([]int64, error)
}
