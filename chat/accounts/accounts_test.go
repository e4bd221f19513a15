package accounts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/chat/table"
	"github.com/chatd/chatd/chat/users"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/store"
)

var begin = time.Unix(1_790_000_000, 0)

const rightWord = "correct horse battery"

var home, abroad = Client{netip.MustParseAddr("192.0.2.1"), "browser"}, Client{netip.MustParseAddr("198.51.100.1"), "other"}

type userStores struct {
	*store.Tables
	*store.Notifications
}

type accountStores struct {
	*store.Accounts
	*store.Erasures
	*store.Tables
}

type profileStores struct {
	*store.Profiles
	*store.Tables
}

// node is what one node has of accounts; its clock stands until it is moved.
type node struct {
	*chattest.Bench
	*Service
	profiles  *profiles.Service
	follower  *table.Follower
	mu        sync.Mutex
	now       time.Time
	rechecked []string
}

var root = chat.Caller{User: "root", Admin: true}

func newNode(b *chattest.Bench, change func(*Options)) *node {
	n := &node{Bench: b, now: begin}
	log := slog.New(slog.DiscardHandler)
	decided := users.New(userStores{b.Store.Tables, b.Store.Notifications}, users.Options{Node: "n", Now: n.clock, Log: log})
	n.profiles = profiles.New(profileStores{b.Store.Profiles, b.Store.Tables}, decided, profiles.Options{Now: n.clock, Log: log})
	opt := Options{
		Registration: RegisterOpen, Secrets: [][]byte{[]byte("secret of the server")}, Users: decided, Flush: b.FlushKnown, Now: n.clock, Log: log,
		CheckName: profiles.CheckName, Introduce: n.profiles.Introduce,
		Sign: func(user, login string, issued time.Time) (string, time.Time, error) {
			return fmt.Sprint(user, " ", login, " ", issued.Unix()), issued.Add(AccessTTL), nil
		},
	}
	if change != nil {
		change(&opt)
	}
	n.Service = New(accountStores{b.Store.Accounts, b.Store.Erasures, b.Store.Tables}, opt)
	n.Attach(n)
	n.follower = table.Follow(b.Store.Tables, log, decided.Users(), n.EndedLogins(), n.State())
	n.follow()
	return n
}

func (n *node) RecheckUsers(users []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rechecked = append(n.rechecked, users...)
}

func (n *node) clock() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.now
}

func (n *node) pass(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.now = n.now.Add(d)
}

func (n *node) follow() {
	n.T.Helper()
	n.Must(n.follower.Load(n.Ctx))
}

func (n *node) registers(user string) {
	n.T.Helper()
	n.Must(n.Register(n.Ctx, Draft{User: user, Password: rightWord}, nil))
}

func (n *node) logs(user string) Pair {
	n.T.Helper()
	p, err := n.Login(n.Ctx, user, rightWord, home)
	n.Must(err)
	return p
}

func (n *node) refreshes(token string) Pair {
	n.T.Helper()
	p, err := n.Refresh(n.Ctx, token)
	n.Must(err)
	return p
}

func (n *node) ends(what, token string) {
	n.T.Helper()
	_, err := n.Refresh(n.Ctx, token)
	n.Refused(what, err, chat.CodeUnauthenticated)
}

func TestPasswords(t *testing.T) {
	for password, want := range map[string]bool{
		rightWord: true, strings.Repeat("x", 128): true, "äöüäöüäöüä": true, "九個字不夠一個字才夠": true,
		"short word": true, "nine char": false, strings.Repeat("x", 129): false, strings.Repeat("ä", 65): false, "": false,
		"1234567890": false, "Password123": false, "QWERTYUIOP": false, "alice.in.wonderland": false, "ALICE.in.wonderland": false, "bad\xffutf8...": false,
	} {
		if err := CheckPassword("alice.in.wonderland", password); (err == nil) != want {
			t.Errorf("%q: got %v, want taken %v", password, err, want)
		}
	}
}

func TestHashes(t *testing.T) {
	h := newHasher()
	hash, err := h.hash(t.Context(), rightWord)
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") || !current(hash) {
		t.Fatalf("got %s, %v", hash, err)
	}
	// Made by another implementation: argon2 "somesalt" -id -t 2 -k 65536 -p 1 of "password".
	const others = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	for _, c := range []struct {
		hash, password string
		want           bool
	}{{hash, rightWord, true}, {hash, rightWord + " ", false}, {"", rightWord, false}, {others, "password", true}, {others, "Password", false}} {
		if got, err := h.matches(t.Context(), c.hash, c.password); err != nil || got != c.want {
			t.Errorf("%s with %s: got %v, %v", c.hash, c.password, got, err)
		}
	}
	if current(others) {
		t.Error("a hash with other parameters counts as current")
	}
	if _, err := h.matches(t.Context(), "$2a$10$x", rightWord); err == nil {
		t.Error("an unknown hash was taken")
	}
	// An unknown user waits in the same line, which has an end.
	for range hashesAtOnce {
		h.turns <- struct{}{}
		h.line <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, of := range []string{hash, ""} {
		if _, err := h.matches(ctx, of, rightWord); !errors.Is(err, chat.ErrUnavailable) {
			t.Errorf("with no turn left: got %v", err)
		}
	}
	for range hashesWaiting {
		h.line <- struct{}{}
	}
	if _, err := h.hash(t.Context(), rightWord); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("with a full line: got %v", err)
	}
}

func TestRegister(t *testing.T) {
	b := chattest.New(t)
	n := newNode(b, nil)
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "owner", "member")
	b.Know("seen")
	yes := true
	_, err := n.opt.Users.Decide(n.Ctx, root, "decided", &yes, nil)
	n.Must(err)
	n.registers("alice")
	for _, user := range []string{"alice", "owner", "member", "seen", "decided"} {
		n.Refused(user, n.Register(n.Ctx, Draft{User: user, Password: rightWord}, nil), chat.CodeExists)
	}
	n.Must(n.Register(n.Ctx, Draft{User: "member", Password: rightWord}, &root)) // an operator may
	n.Refused("has one", n.Register(n.Ctx, Draft{User: "member", Password: rightWord}, &root), chat.CodeExists)
	n.Refused("user", n.Register(n.Ctx, Draft{User: "a b", Password: rightWord}, nil), chat.CodeInvalid)
	n.Refused("password", n.Register(n.Ctx, Draft{User: "bob", Password: "short"}, nil), chat.CodeInvalid)
	n.Refused("code", n.Register(n.Ctx, Draft{User: "bob", Password: rightWord, Code: "x"}, nil), chat.CodeNotFound)
	n.opt.Registration = RegisterInvited
	n.Refused("no code", n.Register(n.Ctx, Draft{User: "bob", Password: rightWord}, nil), chat.CodeForbidden)
	n.Refused("unknown code", n.Register(n.Ctx, Draft{User: "bob", Password: rightWord, Code: "x"}, nil), chat.CodeNotFound)
	n.opt.Registration = RegisterClosed
	n.Refused("closed", n.Register(n.Ctx, Draft{User: "bob", Password: rightWord, Code: "x"}, nil), chat.CodeForbidden)
	n.Must(n.Register(n.Ctx, Draft{User: "bob", Password: rightWord}, &root))
	if !n.Any() {
		t.Error("the server does not know that there is an account")
	}
}

// TestOneRegisters: of many who want a name at the same time, one gets it.
func TestOneRegisters(t *testing.T) {
	n := newNode(chattest.New(t), nil)
	var wg sync.WaitGroup
	done := make([]error, 8)
	for i := range done {
		wg.Go(func() { done[i] = n.Register(n.Ctx, Draft{User: "alice", Password: fmt.Sprint(rightWord, i)}, nil) })
	}
	wg.Wait()
	made := -1
	for i, err := range done {
		switch {
		case err == nil && made < 0:
			made = i
		case !errors.Is(err, chat.ErrExists):
			t.Errorf("got %v", err)
		}
	}
	_, err := n.Login(n.Ctx, "alice", fmt.Sprint(rightWord, made), home)
	n.Must(err)
}

func TestThrottle(t *testing.T) {
	n := newNode(chattest.New(t), nil)
	n.registers("alice")
	try := func(user, password string, from Client) chat.Code {
		_, err := n.Login(n.Ctx, user, password, from)
		return chat.CodeOf(err)
	}
	for _, user := range []string{"alice", "unknown"} {
		for i := range failuresMax {
			if got := try(user, "wrong", home); got != chat.CodeUnauthenticated {
				t.Errorf("%s, guess %d: got %q", user, i, got)
			}
			n.pass(time.Second)
		}
		_, err := n.Login(n.Ctx, user, rightWord, home)
		var refused *chat.Error
		if !errors.As(err, &refused) || refused.Code != chat.CodeRateLimited || refused.RetryAfter != failuresWithin-failuresMax*time.Second {
			t.Errorf("%s, too many: got %+v", user, err)
		}
	}
	if got := try("alice", rightWord, abroad); got != "" {
		t.Errorf("from another address: got %q", got)
	}
	n.pass(failuresWithin - 2*failuresMax*time.Second) // the first failure of alice is a minute ago
	if got := try("alice", rightWord, home); got != "" {
		t.Errorf("after a minute: got %q", got)
	}
	for i := range failuresMax {
		if got := try("alice", "wrong", home); got != chat.CodeUnauthenticated {
			t.Errorf("after a right password, guess %d: got %q", i, got)
		}
	}
	// Guesses at the same time count one by one.
	var wg sync.WaitGroup
	answers := make([]chat.Code, 3*failuresMax)
	for i := range answers {
		wg.Go(func() { answers[i] = try("bob", "wrong", home) })
	}
	wg.Wait()
	guessed := 0
	for _, code := range answers {
		if code == chat.CodeUnauthenticated {
			guessed++
		}
	}
	if guessed != failuresMax {
		t.Errorf("%d guesses at the same time were judged, want %d", guessed, failuresMax)
	}
}

func TestRefresh(t *testing.T) {
	n := newNode(chattest.New(t), nil)
	n.registers("alice")
	first := n.logs("alice")
	n.pass(time.Minute)
	second := n.refreshes(first.Refresh)
	if second.Refresh == first.Refresh || second.Token == first.Token {
		t.Errorf("got the same pair again: %+v", second)
	}
	n.pass(refreshGrace - time.Second)
	if again := n.refreshes(first.Refresh); again != second {
		t.Errorf("the one before within a minute: got %+v, want %+v", again, second)
	}
	n.pass(time.Second)
	n.ends("the one before after a minute", first.Refresh)
	n.ends("the newest of a login that was stolen", second.Refresh)
	if n.CheckLogin(strings.Fields(second.Token)[1]) == nil {
		t.Error("the access tokens of a stolen login hold")
	}

	first = n.logs("alice")
	second = n.refreshes(first.Refresh)
	third := n.refreshes(second.Refresh)
	forged, _ := parseRefresh(third.Refresh)
	for _, count := range []int{0, 1, 2, 3, 1 << 30} {
		forged.count, forged.secret = count, bytes.Repeat([]byte{1}, 32)
		n.ends("forged", forged.String())
	}
	for _, bad := range []string{"", "x", "cr_", third.Refresh + "x", strings.Replace(third.Refresh, "cr_", "", 1), strings.Repeat("cr_.", 1000)} {
		n.ends(bad, bad)
	}
	n.refreshes(third.Refresh)
	n.ends("an older one", first.Refresh)
	n.ends("after an older one", third.Refresh)

	// 30 days without use, 180 in all.
	p := n.logs("alice")
	n.pass(refreshTTL)
	p = n.refreshes(p.Refresh)
	for range 5 {
		n.pass(refreshTTL - time.Second)
		p = n.refreshes(p.Refresh)
	}
	if want := begin.Add(0); p.Until.Before(want) || p.Until.After(n.clock().Add(time.Minute)) {
		t.Errorf("the login ends at %v, want 180 days after it began", p.Until)
	}
	n.pass(time.Minute)
	n.ends("after 180 days", p.Refresh)
	p = n.logs("alice")
	n.pass(refreshTTL + time.Second)
	n.ends("after 30 days", p.Refresh)
}

// TestSecretsChange: with the secret that signed before among those that are known, logins go on, and what was stolen shows.
func TestSecretsChange(t *testing.T) {
	b := chattest.New(t)
	n := newNode(b, nil)
	n.registers("alice")
	first := n.logs("alice")
	second := n.refreshes(first.Refresh)
	next := newNode(b, func(o *Options) { o.Secrets = [][]byte{[]byte("a new secret"), o.Secrets[0]} })
	if again := next.refreshes(first.Refresh); again.Refresh != second.Refresh {
		t.Errorf("got %+v, want %+v", again, second)
	}
	third := next.refreshes(second.Refresh)
	next.refreshes(third.Refresh)
}

// TestManyRefreshAtOnce: a client with many tabs, or one that repeats itself, loses no login.
func TestManyRefreshAtOnce(t *testing.T) {
	n := newNode(chattest.New(t), nil)
	n.registers("alice")
	first := n.logs("alice")
	var wg sync.WaitGroup
	pairs, errs := make([]Pair, 1000), make([]error, 1000)
	for i := range pairs {
		wg.Go(func() { pairs[i], errs[i] = n.Refresh(n.Ctx, first.Refresh) })
	}
	wg.Wait()
	for i := range pairs {
		if errs[i] != nil || pairs[i] != pairs[0] {
			t.Fatalf("%d: got %+v, %v, want %+v", i, pairs[i], errs[i], pairs[0])
		}
	}
	n.refreshes(pairs[0].Refresh)
}

// TestOnlyWhatEndsIsReported: the audit gets no end of a login where the one that an operator names is not there, also where others
// had ended by themselves.
func TestOnlyWhatEndsIsReported(t *testing.T) {
	b := chattest.New(t)
	n := newNode(b, nil)
	n.registers("alice")
	n.logs("alice")
	n.pass(10 * 365 * 24 * time.Hour)
	reported := func() int {
		t.Helper()
		list, _, err := b.Store.Audit(n.Ctx, "", "", 10)
		n.Must(err)
		return strings.Count(fmt.Sprint(list), string(audit.AccountLogout))
	}
	n.Refused("unknown", n.EndLogin(n.Ctx, root, "alice", "unknown"), chat.CodeNotFound)
	if reported() != 0 {
		t.Error("the audit has the end of a login that was not there")
	}
	n.Must(n.EndLogin(n.Ctx, root, "alice", strings.Fields(n.logs("alice").Token)[1]))
	if reported() != 1 {
		t.Error("the audit lacks the end of a login")
	}
}

// TestEnding: logins end one by one, all others, with the password, with the account, by revocation and where there are too many.
func TestEnding(t *testing.T) {
	b := chattest.New(t)
	n, other := newNode(b, nil), newNode(b, nil)
	n.registers("alice")
	login := func(p Pair) string { return strings.Fields(p.Token)[1] }
	a, c, d := n.logs("alice"), n.logs("alice"), n.logs("alice")
	n.Refused("unknown", n.EndLogin(n.Ctx, root, "alice", "unknown"), chat.CodeNotFound)
	n.Must(n.EndLogin(n.Ctx, root, "alice", login(a)))
	n.ends("ended", a.Refresh)
	n.Refused("its access token", n.CheckLogin(login(a)), chat.CodeUnauthenticated)
	n.Must(n.CheckLogin(login(c)))
	other.follow()
	other.Refused("its access token on another node", other.CheckLogin(login(a)), chat.CodeUnauthenticated)
	if len(n.rechecked) == 0 || n.rechecked[0] != "alice" || len(other.rechecked) == 0 {
		t.Errorf("got %q and %q rechecked, want alice", n.rechecked, other.rechecked)
	}
	list, err := n.Logins(n.Ctx, "alice", login(c))
	n.Must(err)
	if len(list) != 2 || list[0].Current == list[1].Current || list[0].Address != "192.0.2.1" || list[0].Agent != "browser" {
		t.Errorf("got the logins %+v", list)
	}
	n.Refused("a wrong old one", n.ChangePassword(n.Ctx, "alice", "wrong", "another password", login(c), home.Address), chat.CodeForbidden)
	n.Refused("a short new one", n.ChangePassword(n.Ctx, "alice", rightWord, "short", login(c), home.Address), chat.CodeInvalid)
	n.Must(n.ChangePassword(n.Ctx, "alice", rightWord, "another password", login(c), home.Address))
	n.ends("of before the new password", d.Refresh)
	c = n.refreshes(c.Refresh)
	_, err = n.Login(n.Ctx, "alice", rightWord, home)
	n.Refused("the old password", err, chat.CodeUnauthenticated)
	n.Must(n.ChangePassword(n.Ctx, "alice", "another password", rightWord, "", home.Address))
	n.ends("without a current one", c.Refresh)

	d = n.logs("alice")
	n.Must(n.opt.Users.Revoke(n.Ctx, chat.Caller{User: "root", Admin: true}, "alice", nil))
	n.ends("revoked", d.Refresh)
	if list, err = n.Logins(n.Ctx, "alice", ""); err != nil || len(list) != 0 {
		t.Errorf("after a revocation: got %+v, %v", list, err)
	}
	d = n.logs("alice") // within the second that was revoked
	if at := strings.Fields(d.Token)[2]; at != fmt.Sprint(begin.Unix()+1) {
		t.Errorf("the token says %s, want the second after the revocation", at)
	}
	n.refreshes(d.Refresh)
	yes := true
	_, err = n.opt.Users.Decide(n.Ctx, chat.Caller{User: "root", Admin: true}, "alice", &yes, nil)
	n.Must(err)
	_, err = n.Login(n.Ctx, "alice", rightWord, home)
	n.Refused("disabled, with the right password", err, chat.CodeForbidden)
	_, err = n.Login(n.Ctx, "alice", "wrong", home)
	n.Refused("disabled, with a wrong one", err, chat.CodeUnauthenticated)

	n.registers("bob")
	a = n.logs("bob")
	n.pass(time.Second)
	for range loginsMax {
		n.logs("bob")
	}
	n.ends("too many", a.Refresh)
	n.Must(n.Logout(n.Ctx, a.Refresh))
	n.pass(AccessTTL + 2*accessLeeway)
	n.Must(n.trim(n.Ctx))
	if left := n.EndedLogins().All(); len(left) != 0 {
		t.Errorf("%d logins are remembered although their tokens have expired", len(left))
	}
}

func TestCodes(t *testing.T) {
	n := newNode(chattest.New(t), nil)
	n.registers("alice")
	before := n.logs("alice")
	code := func(user, kind string) string {
		c, err := n.MakeCode(n.Ctx, root, user, kind, false)
		n.Must(err)
		return c.Code
	}
	redeem := func(r Redemption) error { _, err := n.Redeem(n.Ctx, r, home); return err }
	link := code("alice", CodeLink)
	n.Must(redeem(Redemption{Code: link}))
	n.Refused("spent", redeem(Redemption{Code: link}), chat.CodeUnauthenticated)
	n.refreshes(before.Refresh)
	reset := code("alice", CodeReset)
	n.Refused("a short password", redeem(Redemption{Code: reset, Password: "short"}), chat.CodeInvalid)
	n.Refused("no password", redeem(Redemption{Code: reset}), chat.CodeInvalid)
	n.Must(redeem(Redemption{Code: reset, Password: "another password"}))
	n.ends("of before the reset", before.Refresh)
	n.Refused("spent", redeem(Redemption{Code: reset, Password: "another password"}), chat.CodeUnauthenticated)
	_, err := n.Login(n.Ctx, "alice", "another password", home)
	n.Must(err)
	for _, bad := range []string{"", "x", "x.y", "YWxpY2U.AAAAAAAAAAAAAAAAAAAAAA", link + "x"} {
		n.Refused(bad, redeem(Redemption{Code: bad, Password: rightWord}), chat.CodeUnauthenticated)
	}
	link, reset = code("alice", CodeLink), code("alice", CodeReset)
	n.pass(linkTTL)
	n.Refused("an old link", redeem(Redemption{Code: link}), chat.CodeUnauthenticated)
	n.pass(resetTTL - linkTTL)
	n.Refused("an old reset", redeem(Redemption{Code: reset, Password: rightWord}), chat.CodeUnauthenticated)
	n.Must(redeem(Redemption{Code: code("newcomer", CodeReset), Password: rightWord}))
	n.logs("newcomer")
	_, err = n.MakeCode(n.Ctx, root, "alice", "magic", true)
	n.Refused("another kind", err, chat.CodeInvalid)

	n.Must(n.Register(n.Ctx, Draft{User: "root", Password: rightWord, Admin: true}, &root))
	_, err = n.MakeCode(n.Ctx, root, "root", CodeReset, false)
	n.Refused("for an operator by a key", err, chat.CodeForbidden)
	_, err = n.MakeCode(n.Ctx, root, "root", CodeReset, true)
	n.Must(err)
}

func TestList(t *testing.T) {
	n := newNode(chattest.New(t), nil)
	for i := range walkUsers {
		n.Must(n.Store.Know(n.Ctx, fmt.Sprint("a", i)))
	}
	n.Must(n.Register(n.Ctx, Draft{User: "root", Password: rightWord, Admin: true}, &root))
	n.registers("alice")
	n.logs("alice")
	found := map[string]Account{}
	for cursor := ""; ; {
		p, err := n.List(n.Ctx, cursor)
		n.Must(err)
		for _, a := range p.Accounts {
			found[a.User] = a
		}
		if cursor = p.Next; cursor == "" {
			break
		}
	}
	at := chat.TimeMs(begin.UnixMilli())
	if len(found) != 2 || found["alice"] != (Account{User: "alice", CreatedAt: at, Logins: 1}) || found["root"] != (Account{User: "root", Role: "admin", CreatedAt: at}) {
		t.Errorf("got %+v", found)
	}
	for _, bad := range []string{"x", "-1 a", "0", "99999 a", "0 a b"} {
		_, err := n.List(n.Ctx, bad)
		n.Refused(bad, err, chat.CodeInvalid)
	}
}

// TestSetup: the setup link makes one operator, the same on all nodes, and nobody after there is one.
func TestSetup(t *testing.T) {
	b := chattest.New(t)
	n, other := newNode(b, nil), newNode(b, nil)
	n.Must(n.Prepare(n.Ctx))
	n.Must(other.Prepare(n.Ctx))
	code := n.SetupCode()
	if code == "" || code != other.SetupCode() {
		t.Fatalf("got the codes %q and %q, want the same", code, other.SetupCode())
	}
	redeem := func(n *node, r Redemption) (Pair, error) { return n.Redeem(n.Ctx, r, home) }
	_, err := redeem(n, Redemption{Code: code + "x", User: "root", Password: rightWord})
	n.Refused("wrong", err, chat.CodeUnauthenticated)
	_, err = redeem(n, Redemption{Code: code, User: "root", Password: "short"})
	n.Refused("a short password", err, chat.CodeInvalid)

	// A crash after the first step: the account is there, and is no operator's yet.
	a, err := n.draft(n.Ctx, "root", rightWord, "")
	n.Must(err)
	a.Setup = true
	n.Must(n.create(n.Ctx, "root", a, false, audit.Entry{}))
	if n.logs("root"); n.opt.Users.Operator("root") {
		t.Error("who has only begun is an operator")
	}
	_, err = redeem(n, Redemption{Code: code, User: "root", Password: "another password"})
	n.Refused("another password", err, chat.CodeUnauthenticated)

	pairs, errs := make([]Pair, 6), make([]error, 6)
	var wg sync.WaitGroup
	for i := range pairs {
		wg.Go(func() {
			on := []*node{n, other}[i%2]
			pairs[i], errs[i] = redeem(on, Redemption{Code: code, User: []string{"root", "toor", "toro"}[i/2], Password: rightWord})
		})
	}
	wg.Wait()
	n.follow()
	operators := map[string]bool{}
	for i := range pairs {
		if errs[i] == nil {
			operators[pairs[i].User] = n.opt.Users.Operator(pairs[i].User)
		} else if code := chat.CodeOf(errs[i]); code != chat.CodeUnauthenticated && code != chat.CodeExists {
			t.Errorf("got %v", errs[i])
		}
	}
	if len(operators) != 1 || !operators[n.known().Operator] {
		t.Errorf("got the operators %v, and the server has %q", operators, n.known().Operator)
	}
	_, err = redeem(n, Redemption{Code: code, User: "late", Password: rightWord})
	n.Refused("spent", err, chat.CodeUnauthenticated)
	if n.Must(n.Prepare(n.Ctx)); n.SetupCode() != "" {
		t.Error("there is a setup code although there is an operator")
	}
}

// TestSettled: what a crash leaves of making an account comes with the next sign-in: the role, and the name.
func TestSettled(t *testing.T) {
	n := newNode(chattest.New(t), nil)
	n.Must(n.Prepare(n.Ctx))
	name := func(user string) string {
		t.Helper()
		own, err := n.profiles.Get(n.Ctx, user)
		n.Must(err)
		return own.Name
	}
	for user, begun := range map[string]account{"root": {Setup: true, Name: "Ruth"}, "second": {Admin: true, Name: "Zwei"}, "alice": {Name: "Alice"}} {
		a, err := n.draft(n.Ctx, user, rightWord, begun.Name)
		n.Must(err)
		a.Setup, a.Admin = begun.Setup, begun.Admin
		n.Must(n.create(n.Ctx, user, a, true, audit.Entry{}))
	}
	n.Must(n.hasOperator(n.Ctx, "root"))
	for user, want := range map[string]string{"root": "Ruth", "second": "Zwei", "alice": "Alice"} {
		if got := name(user); got != "" {
			t.Errorf("%s has the name %q before", user, got)
		}
		n.logs(user)
		if got := name(user); got != want {
			t.Errorf("%s has the name %q, want %q", user, got, want)
		}
		if got := n.opt.Users.Operator(user); got != (user != "alice") {
			t.Errorf("%s is an operator: %v", user, got)
		}
	}

	// It comes once: what was changed since stays.
	no := false
	_, err := n.opt.Users.Decide(n.Ctx, chat.Caller{User: "root", Admin: true}, "root", nil, &no)
	n.Must(err)
	_, err = n.profiles.Patch(n.Ctx, "root", profiles.Change{Name: []byte(`"Ruth Root"`)}, nil)
	n.Must(err)
	n.logs("root")
	if n.opt.Users.Operator("root") || name("root") != "Ruth Root" {
		t.Errorf("root is an operator (%v) or has the name %q again", n.opt.Users.Operator("root"), name("root"))
	}
}

// TestNothingIsKeptInTheClear looks for secrets in what the store has.
func TestNothingIsKeptInTheClear(t *testing.T) {
	n := newNode(chattest.New(t), nil)
	n.Must(n.Prepare(n.Ctx))
	n.registers("alice")
	p := n.refreshes(n.logs("alice").Refresh)
	code, err := n.MakeCode(n.Ctx, root, "alice", CodeReset, false)
	n.Must(err)
	text, err := n.Store.Account(n.Ctx, "alice")
	n.Must(err)
	row, err := n.Store.Row(n.Ctx, stateName, stateRow)
	n.Must(err)
	for what, secret := range map[string]string{
		"password": rightWord, "refresh token": p.Refresh[strings.LastIndexByte(p.Refresh, '.')+1:], "code": strings.Split(code.Code, ".")[1], "setup code": n.SetupCode(),
	} {
		for _, form := range []string{secret, strings.NewReplacer("-", "+", "_", "/").Replace(secret)} {
			if secret == "" || strings.Contains(text+row.Text, form) {
				t.Errorf("the store has the %s %s in %s %s", what, form, text, row.Text)
			}
		}
	}
}
