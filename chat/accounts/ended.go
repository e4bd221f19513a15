package accounts

import (
	"context"
	"encoding/json"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/table"
)

// Logins that have ended: a row of this table each, until no node takes its last access token any more.
const (
	endedName = "logins"
	endedMax  = 100_000
	endedTrim = 30 * time.Second
)

// end is a row of the table.
type end struct {
	ID     string `json:"-"`
	User   string `json:"user"`
	UntilS int64  `json:"until_s"` // then its tokens have expired
}

func decodeEnd(id, text string) (end, error) {
	e := end{ID: id}
	err := json.Unmarshal([]byte(text), &e)
	return e, err
}

// endings are the logins that have ended, on this node and in the store.
type endings struct {
	store   table.Rows
	table   *table.Table[end]
	sockets Sockets // nil until Attach
	now     func() time.Time
	log     *slog.Logger
}

func newEndings(store table.Rows, now func() time.Time, log *slog.Logger) *endings {
	e := &endings{store: store, now: now, log: log}
	e.table = table.New(endedName, endedMax, decodeEnd, e.changed, log)
	return e
}

// Sockets are the sessions of this node.
type Sockets interface {
	// RecheckUsers ends the sessions of these users that would no longer be let in.
	RecheckUsers(users []string)
}

// Attach names the sessions of this node. It must be called before the tables are followed.
func (e *endings) Attach(sockets Sockets) { e.sockets = sockets }

// EndedLogins is the table of logins that have ended.
func (e *endings) EndedLogins() *table.Table[end] { return e.table }

func (e *endings) changed(ids []string) {
	if e.sockets == nil {
		return
	}
	var users []string
	for _, id := range ids {
		if row, ok := e.table.Get(id); ok && !slices.Contains(users, row.User) {
			users = append(users, row.User)
		}
	}
	e.sockets.RecheckUsers(users)
}

// Ended tells whether a login has ended.
func (e *endings) Ended(login string) bool {
	_, ended := e.table.Get(login)
	return ended
}

var errEnded = chat.Errorf(chat.CodeUnauthenticated, "the login has ended: sign in again")

// CheckLogin refuses the tokens of a login that has ended. "": the token is of none.
func (e *endings) CheckLogin(login string) error {
	if login != "" && e.Ended(login) {
		return errEnded
	}
	return nil
}

// end makes the access tokens of logins void, here at once and on every other node within a second.
func (e *endings) end(ctx context.Context, user string, logins []login) error {
	for _, l := range logins {
		if until := l.tokenUntil(); until.After(e.now()) && !e.Ended(l.ID) {
			text, err := json.Marshal(end{User: user, UntilS: until.Unix()})
			if err != nil {
				return chat.AsError(err)
			}
			_, err = e.table.Change(ctx, e.store, l.ID, func(string) (string, error) { return string(text), nil })
			if err != nil {
				return chat.AsError(err)
			}
		}
	}
	return nil
}

// Run removes the rows of logins whose tokens have expired, until ctx ends.
func (e *endings) Run(ctx context.Context) error {
	for {
		timer := time.NewTimer(endedTrim + rand.N(endedTrim))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
		if err := e.trim(ctx); err != nil && ctx.Err() == nil {
			e.log.DebugContext(ctx, "cannot remove logins that ended long ago", "error", err)
		}
	}
}

func (e *endings) trim(ctx context.Context) error {
	for _, row := range e.table.All() {
		if e.now().Unix() > row.UntilS {
			if _, err := e.table.Change(ctx, e.store, row.ID, func(string) (string, error) { return "", nil }); err != nil {
				return err
			}
		}
	}
	return nil
}
