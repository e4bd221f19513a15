package keys_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/keys"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/chat/table"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/harness"
)

var (
	root  = keys.Maker{User: "root"}
	local = netip.MustParseAddr("127.0.0.1")
	begin = time.UnixMilli(1_790_000_000_000)
)

// node is what one node has of keys.
type node struct {
	*chattest.Bench
	*keys.Service
	follower *table.Follower
	mu       sync.Mutex
	ahead    time.Duration // of its clock
}

func newNode(b *chattest.Bench) *node {
	n := &node{Bench: b}
	n.Service = keys.New(b.Store.Tables, keys.Options{
		Page: chat.DefaultLimits().Page, CheckRate: func(text string) error {
			if text != "1/s" {
				return errors.New("want 1/s")
			}
			return nil
		},
		Now: func() time.Time { n.mu.Lock(); defer n.mu.Unlock(); return begin.Add(n.ahead) },
		Log: slog.New(slog.DiscardHandler),
	})
	n.follower = table.Follow(b.Store.Tables, slog.New(slog.DiscardHandler), n.Table())
	return n
}

func (n *node) pass(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ahead += d
}

func (n *node) create(by keys.Maker, draft keys.Draft) keys.View {
	n.T.Helper()
	v, err := n.Create(n.Ctx, by, draft, "")
	n.Must(err)
	return v
}

// maker is a key as the maker of others.
func (n *node) maker(v keys.View) keys.Maker {
	n.T.Helper()
	k, _, err := n.Verify(v.Key, local)
	n.Must(err)
	return keys.Maker{Key: k}
}

func (n *node) holds(v string) bool {
	_, _, err := n.Verify(v, local)
	return err == nil
}

func TestKey(t *testing.T) {
	n := newNode(chattest.New(t))
	rate, end := "1/s", chat.Time{Time: begin.Add(time.Hour).UTC()}
	draft := keys.Draft{
		Name: " bot ", Scopes: []keys.Scope{keys.Send, keys.Groups, keys.Send}, Rate: &rate, As: &keys.As{Users: []string{"bot-*", "alice"}},
		Groups: []string{"a:*"}, From: []string{"127.0.0.0/8"}, ExpiresAt: &end,
	}
	made := n.create(root, draft)
	if !strings.HasPrefix(made.Key, "ck_"+made.ID+"_") || made.CreatedBy != "root" || made.Name != "bot" || made.LastUsedAt != nil {
		t.Errorf("got %+v", made)
	}
	k, ends, err := n.Verify(made.Key, netip.MustParseAddr("::ffff:127.0.0.1"))
	n.Must(err)
	if !ends.Equal(end.Time) || !k.Has(keys.Send) || k.Has(keys.Ops) || k.Name() != "key:"+made.ID {
		t.Errorf("got %v until %v", k, ends)
	}
	for user, want := range map[string]bool{"alice": true, "alice2": false, "bot-": true, "bot-1": true, "bot": false} {
		if k.ActsFor(user) != want {
			t.Errorf("acting for %s: got %v", user, !want)
		}
	}
	for group, want := range map[string]bool{"a:x": true, "a": false, "b": false} {
		if k.InGroup(group) != want {
			t.Errorf("in %s: got %v", group, !want)
		}
	}
	_, _, err = n.Verify(made.Key, netip.MustParseAddr("192.0.2.1"))
	n.Refused("from elsewhere", err, chat.CodeForbidden)
	for _, wrong := range []string{made.Key + "a", made.Key[:len(made.Key)-1], "ck_", "ck_" + made.ID, "ck_" + made.ID + "_", "ck_x_y"} {
		_, _, err = n.Verify(wrong, local)
		n.Refused(wrong, err, chat.CodeUnauthenticated)
	}

	n.Used(n.Ctx, k)
	got, err := n.Get(n.Ctx, root, made.ID)
	n.Must(err)
	if got.Key != "" || got.LastUsedAt == nil {
		t.Errorf("got %+v, want a use and no secret", got)
	}
	row, err := n.Bench.Store.Row(n.Ctx, keys.TableName, made.ID)
	n.Must(err)
	if _, secret, _ := strings.Cut(made.Key[3:], "_"); strings.Contains(row.Text, secret) {
		t.Error("the secret is in the store")
	}
	n.pass(time.Hour)
	_, _, err = n.Verify(made.Key, local)
	n.Refused("after its end", err, chat.CodeUnauthenticated)
}

func TestDraftsThatNoKeyCanBe(t *testing.T) {
	n := newNode(chattest.New(t))
	past, rate := chat.Time{Time: begin.Add(-time.Second)}, "fast"
	valid := func(change func(*keys.Draft)) keys.Draft {
		d := keys.Draft{Name: "k", Scopes: []keys.Scope{keys.Send}}
		change(&d)
		return d
	}
	for _, c := range []struct {
		what  string
		draft keys.Draft
		want  chat.Code
	}{
		{"no name", valid(func(d *keys.Draft) { d.Name = "  " }), chat.CodeInvalid},
		{"a long name", valid(func(d *keys.Draft) { d.Name = strings.Repeat("ä", 65) }), chat.CodeInvalid},
		{"a control", valid(func(d *keys.Draft) { d.Name = "a\nb" }), chat.CodeInvalid},
		{"no scopes", valid(func(d *keys.Draft) { d.Scopes = nil }), chat.CodeInvalid},
		{"an unknown scope", valid(func(d *keys.Draft) { d.Scopes = []keys.Scope{"all"} }), chat.CodeInvalid},
		{"a rate", valid(func(d *keys.Draft) { d.Rate = &rate }), chat.CodeInvalid},
		{"nobody", valid(func(d *keys.Draft) { d.As = &keys.As{} }), chat.CodeOutOfRange},
		{"a user that is none", valid(func(d *keys.Draft) { d.As = &keys.As{Users: []string{"key:x"}} }), chat.CodeInvalid},
		{"a star within", valid(func(d *keys.Draft) { d.Groups = []string{"a*b"} }), chat.CodeInvalid},
		{"no groups", valid(func(d *keys.Draft) { d.Groups = []string{} }), chat.CodeOutOfRange},
		{"a network", valid(func(d *keys.Draft) { d.From = []string{"10.0.0.0/33"} }), chat.CodeInvalid},
		{"the past", valid(func(d *keys.Draft) { d.ExpiresAt = &past }), chat.CodeOutOfRange},
	} {
		_, err := n.Create(n.Ctx, root, c.draft, "")
		n.Refused(c.what, err, c.want)
	}
}

// TestKeysMakeNoMoreThanThemselves: whatever a key makes, changes or rotates lies within it.
func TestKeysMakeNoMoreThanThemselves(t *testing.T) {
	n := newNode(chattest.New(t))
	end, later := chat.Time{Time: begin.Add(time.Hour)}, chat.Time{Time: begin.Add(2 * time.Hour)}
	wide := keys.Draft{Name: "k", Scopes: []keys.Scope{keys.Keys, keys.Send}, As: &keys.As{Users: []string{"bot*"}}, Groups: []string{"g*"},
		From: []string{"10.0.0.0/8", "127.0.0.1"}, ExpiresAt: &end}
	by := n.maker(n.create(root, wide))
	within := keys.Draft{Name: "child", Scopes: []keys.Scope{keys.Send}, As: &keys.As{Users: []string{"bot-1", "bot-*"}}, Groups: []string{"g1", "g2*"},
		From: []string{"10.1.0.0/16"}, ExpiresAt: &end}
	child, err := n.Create(n.Ctx, by, within, "")
	n.Must(err)
	if child.CreatedBy != by.Key.Name() {
		t.Errorf("got created_by %s", child.CreatedBy)
	}
	for what, change := range map[string]func(*keys.Draft){
		"scopes":         func(d *keys.Draft) { d.Scopes = []keys.Scope{keys.Send, keys.Ops} },
		"as any":         func(d *keys.Draft) { d.As = &keys.As{Any: true} },
		"as wider":       func(d *keys.Draft) { d.As = &keys.As{Users: []string{"bo*"}} },
		"as another":     func(d *keys.Draft) { d.As = &keys.As{Users: []string{"alice"}} },
		"all groups":     func(d *keys.Draft) { d.Groups = nil },
		"wider groups":   func(d *keys.Draft) { d.Groups = []string{"*"} },
		"from anywhere":  func(d *keys.Draft) { d.From = nil },
		"a wider net":    func(d *keys.Draft) { d.From = []string{"10.0.0.0/7"} },
		"another net":    func(d *keys.Draft) { d.From = []string{"127.0.0.2"} },
		"no end":         func(d *keys.Draft) { d.ExpiresAt = nil },
		"a later end":    func(d *keys.Draft) { d.ExpiresAt = &later },
		"one star wider": func(d *keys.Draft) { d.Groups = []string{"g1", "*"} },
	} {
		draft := within
		change(&draft)
		_, err := n.Create(n.Ctx, by, draft, "")
		n.Refused(what, err, chat.CodeForbidden)
		patch, err := json.Marshal(draft)
		n.Must(err)
		_, err = n.Change(n.Ctx, by, child.ID, patch)
		n.Refused("a change of "+what, err, chat.CodeForbidden)
	}
	other := n.create(root, keys.Draft{Name: "other", Scopes: []keys.Scope{keys.Ops}})
	_, err = n.Rotate(n.Ctx, by, other.ID, 0)
	n.Refused("rotating another", err, chat.CodeForbidden)
	n.Refused("removing another", n.Delete(n.Ctx, by, other.ID), chat.CodeForbidden)
	_, err = n.Get(n.Ctx, by, other.ID)
	n.Refused("reading another", err, chat.CodeForbidden)
	list, err := n.List(n.Ctx, by, 0, "")
	n.Must(err)
	if slices.ContainsFunc(list.Items, func(v keys.View) bool { return v.ID == other.ID }) || len(list.Items) != 2 {
		t.Errorf("got %+v, want the key and what it made", list.Items)
	}
	rotated, err := n.Rotate(n.Ctx, by, child.ID, 0)
	n.Must(err)
	if rotated.Key == child.Key || rotated.Key == "" {
		t.Errorf("got %q", rotated.Key)
	}
}

func TestRotate(t *testing.T) {
	n := newNode(chattest.New(t))
	first := n.create(root, keys.Draft{Name: "k", Scopes: []keys.Scope{keys.Send}})
	second, err := n.Rotate(n.Ctx, root, first.ID, time.Minute)
	n.Must(err)
	if !n.holds(first.Key) || !n.holds(second.Key) {
		t.Error("within the overlap both hold")
	}
	third, err := n.Rotate(n.Ctx, root, first.ID, time.Minute)
	n.Must(err)
	if n.holds(first.Key) || !n.holds(second.Key) || !n.holds(third.Key) {
		t.Error("after another rotation the first is void")
	}
	n.pass(time.Minute)
	if n.holds(second.Key) || !n.holds(third.Key) {
		t.Error("after the overlap the newest alone holds")
	}
	_, err = n.Rotate(n.Ctx, root, first.ID, -1)
	n.Refused("a negative overlap", err, chat.CodeOutOfRange)
	_, err = n.Rotate(n.Ctx, root, "none", 0)
	n.Refused("an unknown key", err, chat.CodeNotFound)
}

func TestChange(t *testing.T) {
	n := newNode(chattest.New(t))
	end := chat.Time{Time: begin.Add(time.Hour).UTC()}
	made := n.create(root, keys.Draft{Name: "k", Scopes: []keys.Scope{keys.Send}, Groups: []string{"g"}, ExpiresAt: &end})
	got, err := n.Change(n.Ctx, root, made.ID, []byte(`{"name":"new","groups":null,"as":"any"}`))
	n.Must(err)
	want := made
	want.Key, want.Name, want.Groups, want.As = "", "new", nil, &keys.As{Any: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	_, err = n.Change(n.Ctx, root, made.ID, []byte(`{"scopes":[]}`))
	n.Refused("no scopes", err, chat.CodeInvalid)
	_, err = n.Change(n.Ctx, root, made.ID, []byte(`{"as":5}`))
	n.Refused("a number", err, chat.CodeInvalid)
	n.pass(2 * time.Hour)
	_, err = n.Change(n.Ctx, root, made.ID, []byte(`{"name":"newer"}`))
	n.Must(err) // though it has expired
	_, err = n.Change(n.Ctx, root, made.ID, []byte(`{"expires_at":null}`))
	n.Must(err)
	if !n.holds(made.Key) {
		t.Error("a key without an end holds again")
	}
}

// TestRetriedCreation: a retry key makes one key, and shows its secret once.
func TestRetriedCreation(t *testing.T) {
	n := newNode(chattest.New(t))
	draft := keys.Draft{Name: "k", Scopes: []keys.Scope{keys.Send}}
	first, err := n.Create(n.Ctx, root, draft, "once")
	n.Must(err)
	second, err := n.Create(n.Ctx, root, draft, "once")
	n.Must(err)
	if first.ID != second.ID || second.Key != "" {
		t.Errorf("got %+v, want the same key without its secret", second)
	}
}

// TestOtherNodes: what changes on one node holds on another, with signals and without.
func TestOtherNodes(t *testing.T) {
	for _, signals := range []bool{true, false} {
		t.Run(map[bool]string{true: "told", false: "asking"}[signals], func(t *testing.T) {
			b := chattest.New(t)
			here, there := newNode(b), newNode(b)
			n := here.create(root, keys.Draft{Name: "before", Scopes: []keys.Scope{keys.Send}})
			b.Must(there.follower.Load(b.Ctx))
			if !there.holds(n.Key) {
				t.Fatal("a key of before the start is not known")
			}
			ctx, stop := context.WithCancel(b.Ctx)
			var wg sync.WaitGroup
			defer wg.Wait()
			defer stop()
			wg.Go(func() { _ = there.follower.Run(ctx) })
			if signals {
				wg.Go(func() { _ = b.Store.Listen(ctx, func(live.Signal) {}) })
			}
			later := here.create(root, keys.Draft{Name: "later", Scopes: []keys.Scope{keys.Send}})
			harness.Eventually(t, 20*time.Second, "the new key holds on the other node", func() error {
				_, _, err := there.Verify(later.Key, local)
				return err
			})
			b.Must(here.Delete(b.Ctx, root, n.ID))
			harness.Eventually(t, 20*time.Second, "the removed key is void on the other node", func() error {
				if there.holds(n.Key) {
					return errors.New("it holds")
				}
				return nil
			})
		})
	}
}

// TestLostWrites: a node follows a store back that has lost what it knew.
func TestLostWrites(t *testing.T) {
	b := chattest.New(t)
	n := newNode(b)
	kept := n.create(root, keys.Draft{Name: "kept", Scopes: []keys.Scope{keys.Send}})
	lost := n.create(root, keys.Draft{Name: "lost", Scopes: []keys.Scope{keys.Send}})
	b.Must(n.follower.Load(b.Ctx))
	client := b.Store.Client()
	b.Must(client.HDel(b.Ctx, "chat:{p00}:t:keys", lost.ID).Err())
	b.Must(client.ZRem(b.Ctx, "chat:{p00}:t:keys:at", lost.ID).Err())
	b.Must(n.follower.Load(b.Ctx))
	if n.holds(lost.Key) || !n.holds(kept.Key) {
		t.Error("want the kept key alone to hold")
	}
}
