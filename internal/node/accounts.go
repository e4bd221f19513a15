package node

import (
	"time"

	"github.com/chatd/chatd/chat/accounts"
)

// openAccounts makes the service of accounts, where people sign in here.
func (n *Node) openAccounts() {
	if !n.set.accounts {
		return
	}
	n.services.Accounts = accounts.New(accountStore{n.store.Accounts, n.store.Tables}, accounts.Options{
		Registration: accounts.Registration(n.set.Registration), Secrets: n.set.secrets, Sign: n.set.signLogin, Users: n.services.Users,
		Flush: n.services.Chat.FlushKnown, Now: time.Now, Log: n.log,
	})
	n.gate.CheckLogin = n.services.Accounts.CheckLogin
	n.tables.Add(n.services.Accounts.EndedLogins(), n.services.Accounts.State())
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
  Nobody can sign in yet. This link makes the first account, an operator's; it works until then.

    Open    %[1]s

`
