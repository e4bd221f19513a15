package node

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"
)

// devTokenTTL is long enough for a day of experimenting.
const devTokenTTL = 24 * time.Hour

func (n *Node) issue(user string) (string, time.Time, error) {
	return n.set.sign(user, "", devTokenTTL)
}

// newDevCode makes the code of the development sign-in: 128 random bits.
func newDevCode() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// printBanner prints what runs where, and what to do next.
func (n *Node) printBanner() {
	page := n.page()
	if n.set.Redis == "" {
		n.log.Info("store: embedded, for development and small single servers: one process, all data in memory, "+
			"written to disk before each answer and synced each second; move to Redis with CHATD_REDIS", "data", absolute(n.set.Data))
	} else {
		n.log.Info("store: Redis, for production: any number of nodes; what survives a failure depends on its persistence and replicas",
			"prefix", n.set.Prefix)
	}
	if n.made {
		n.log.Info("generated a token secret; get a token with: chatd token -user alice", "file", absolute(filepath.Join(n.set.Data, secretFile)))
	}
	if limit, known := openFilesMax(); known {
		if problem := filesProblem(limit, n.set.limits.SessionsNodeMax); problem != "" {
			n.log.Warn(problem, "limit", limit)
		}
		if most := connsIPDefault(limit, known); n.set.MaxConnsIP == "" && most < connsIPMaxDefault {
			n.log.Warn("the limit of open files is low: an address may have fewer connections than it could have by default",
				"limit", limit, "CHATD_MAX_CONNS_IP", most)
		}
	}
	n.log.Info("listening", "address", n.Addr().String(), "page", page+"/", "docs", page+"/docs")
	lines := invitation
	if link := n.SetupLink(); link != "" {
		n.invite(setupInvitation, "there is no operator yet: this link makes the first account", link)
		lines = invitationBeside
	}
	if link := n.SignInLink(); link != "" {
		n.invite(lines, "development sign-in is on: anyone with this link can sign in under any name", link)
	}
}

// filesSpare are the files a node has open besides its websockets: other requests, the store, webhooks, logs.
const filesSpare = 1000

// filesProblem returns a warning if the limit of open files is too low for the node's maximum of websockets, else "".
func filesProblem(limit uint64, sessions int) string {
	if limit >= uint64(sessions)+filesSpare {
		return ""
	}
	return fmt.Sprintf("the limit of open files is too low for %d websockets: connections will be refused when it is reached; "+
		"allow at least %d (ulimit -n, LimitNOFILE= of systemd, --ulimit nofile of Docker)", sessions, sessions+filesSpare)
}

// page returns the URL of the browser client for people on this host.
func (n *Node) page() string {
	page, err := URL(n.Addr().String())
	if err != nil {
		return "http://" + n.Addr().String() // the listener's own address is always valid
	}
	return page
}

// SignInLink returns a link that opens the browser client with the code of the development sign-in; empty if that is
// off. The code is in the fragment, which browsers never send.
func (n *Node) SignInLink() string {
	if n.devCode == "" || n.services.Accounts != nil && n.services.Accounts.Any() {
		return ""
	}
	return n.page() + "/#code=" + n.devCode
}

// invite prints how to sign in: plain lines for people, or a record if logs are for programs.
func (n *Node) invite(lines, record, link string) {
	if n.set.LogFormat == "json" {
		n.log.Warn(record, "page", link)
		return
	}
	_, _ = fmt.Fprintf(n.output, lines, link)
}

const invitation = `
  Development sign-in is on: anyone with this link may use any name. It changes with each start.

    Open    %[1]s

  To chat with yourself, open the same link in a private window or another browser and pick a second name.

`

// invitationBeside follows the setup link.
const invitationBeside = `  Only trying? Until there is an account, anyone with this link may use any name:

            %[1]s

`

// absolute returns a path that is valid in any folder.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

func newLogger(s settings, output io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.Log)) // the value is already checked
	opt := &slog.HandlerOptions{Level: level}
	if s.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(output, opt))
	}
	return slog.New(slog.NewTextHandler(output, opt))
}
