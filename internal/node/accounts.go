package node

import (
	"context"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/accounts"
	"github.com/chatd/chatd/chat/invite"
	"github.com/chatd/chatd/chat/keys"
	"github.com/chatd/chatd/chat/profiles"
)

// openAccounts makes the service of accounts, where people sign in here.
func (n *Node) openAccounts() {
	if !n.set.accounts {
		return
	}
	n.services.Accounts = accounts.New(accountStore{n.store.Accounts, n.store.Erasures, n.store.Tables}, accounts.Options{
		Registration: accounts.Registration(n.set.Registration), Secrets: n.set.secrets, Sign: n.set.signLogin, Users: n.services.Users,
		Invitations: invitations{n.services.Invites}, CheckName: profiles.CheckName, Introduce: n.services.Profiles.Introduce, Flush: n.services.Chat.FlushKnown, Now: time.Now, Log: n.log,
	})
	n.gate.CheckLogin = n.services.Accounts.CheckLogin
	n.tables.Add(n.services.Accounts.EndedLogins(), n.services.Accounts.State())
}

// endLogins ends the logins of a person who is erased: once the account is gone, nobody knows them.
func (n *Node) endLogins(ctx context.Context, user string) error {
	if n.services.Accounts == nil {
		return nil
	}
	return n.services.Accounts.EndOthers(ctx, user, "")
}

// invitations are those of the server and of groups, as accounts ask for them.
type invitations struct{ *invite.Service }

func (i invitations) Valid(ctx context.Context, code string) error {
	_, err := i.Check(ctx, code)
	return err
}

func (i invitations) Use(ctx context.Context, code, user string) error {
	_, err := i.Redeem(ctx, code, user)
	return err
}

// SetupLink returns a link that opens the page where the first operator chooses a name and a password; empty if there is one. The code
// is in the fragment, which browsers never send.
func (n *Node) SetupLink() string {
	if n.services.Accounts == nil {
		return ""
	}
	code := n.services.Accounts.SetupCode()
	if code == "" {
		return ""
	}
	return n.page() + "/#setup=" + code
}

const setupInvitation = `
  There is no account yet. This link makes the first one, which runs the server:

    Open    %[1]s

`

// openInvites makes the service of invitations. One that a key made ends with it.
func (n *Node) openInvites(core *chat.Service, people *profiles.Service) *invite.Service {
	return invite.New(core, n.store.Invites, n.store.Tables, invite.Options{
		Now: time.Now, Log: n.log,
		Name: func(ctx context.Context, user string) string { return people.Shown(ctx, []string{user})[user].Name },
		Holds: func(id, group string) bool {
			key, ok := n.services.Keys.Table().Get(id)
			return ok && key.Has(keys.Groups) && (group == "" || key.InGroup(group)) && (key.ExpiresAt == nil || time.Now().Before(key.ExpiresAt.Time))
		},
	})
}
