package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

// TestKeysCommand makes, lists, rotates and removes keys from the command line, beside a server with each store. That with the
// embedded store has made its secret itself.
func TestKeysCommand(t *testing.T) {
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		testKeysCommand(t, harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_JWT_SECRET": ""}}))
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		node := harness.StartNode(t, harness.Config{Redis: redistest.Start(t).URL()})
		testKeysCommand(t, node)
		testKeysRefusals(t, node)
	})
}

// keys runs `chatd keys` beside a node.
func keys(t *testing.T, node *harness.Node, args ...string) (stdout, stderr string, failed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), cliWait)
	defer cancel()
	cmd := node.Command(ctx, append([]string{"keys"}, args...)...)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%v: no end within %v", args, cliWait)
	}
	return out.String(), log.String(), err != nil
}

func testKeysCommand(t *testing.T, node *harness.Node) {
	ctx := t.Context()
	run := func(args ...string) string {
		t.Helper()
		out, log, failed := keys(t, node, args...)
		if failed {
			t.Fatalf("%v: %s", args, log)
		}
		return strings.TrimSpace(out)
	}
	holds := func(key string) error {
		_, err := must(client.New(node.URL(), client.StaticToken(key)))(t).As("bot-1").Me(ctx)
		return err
	}
	first := run("add", "shop", "-scopes", "send,read", "-as", "bot-*,alice", "-groups", "orders*", "-from", "127.0.0.0/8,::1/128", "-rate", "100/s:500", "-expires", "90d")
	if err := holds(first); err != nil {
		t.Fatalf("the key %q: %v", first, err)
	}
	var all client.Key
	if err := json.Unmarshal([]byte(run("add", "all", "-scopes=keys", "-as", "any", "-json")), &all); err != nil || all.Key == "" || !all.As.Any || all.ExpiresAt != nil {
		t.Errorf("add -json: %+v, %v", all, err)
	}
	var shop client.Key
	listed := run("list", "-json")
	for line := range strings.Lines(listed) {
		var one client.Key
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if one.Name == "shop" {
			shop = one
		}
	}
	left := time.Until(*shop.ExpiresAt)
	if !slices.Equal(shop.Scopes, []string{"read", "send"}) || !slices.Equal(shop.As.Users, []string{"bot-*", "alice"}) || !slices.Equal(shop.Groups, []string{"orders*"}) ||
		!slices.Equal(shop.From, []string{"127.0.0.0/8", "::1/128"}) || *shop.Rate != "100/s:500" || left < 89*24*time.Hour || left > 90*24*time.Hour {
		t.Errorf("got %+v", shop)
	}
	table := run("list")
	if !strings.HasPrefix(table, "ID ") || !strings.Contains(table, shop.ID) || !strings.Contains(table, "bot-*,alice") || strings.Count(table, "\n") != 2 {
		t.Errorf("list:\n%s", table)
	}
	if strings.Contains(table+listed, first) {
		t.Error("a list has a secret")
	}
	second := run("rotate", shop.ID, "-overlap", "1h")
	if second == first || holds(first) != nil || holds(second) != nil {
		t.Errorf("after a rotation: %q, %v, %v", second, holds(first), holds(second))
	}
	third := run("rotate", shop.ID, "-overlap", "0s")
	void := func(key string) {
		t.Helper()
		harness.Eventually(t, cliWait, "the key is void", func() error {
			if err := holds(key); client.CodeOf(err) != client.CodeUnauthenticated {
				return fmt.Errorf("got %w", err)
			}
			return nil
		})
	}
	void(second)
	if err := holds(third); err != nil {
		t.Errorf("the newest key: %v", err)
	}
	if got, want := run("rm", third), shop.ID+" is removed"; got != want {
		t.Errorf("rm: got %q, want %q", got, want)
	}
	void(third)
}

func testKeysRefusals(t *testing.T, node *harness.Node) {
	keeper, _, _ := keys(t, node, "add", "keeper", "-scopes", "keys")
	for _, c := range []struct {
		says string
		args []string
	}{
		{"missing flags: --scopes", []string{"add", "x"}},
		{"scopes[0]: want one of groups", []string{"add", "x", "-scopes", "nope"}},
		{"want a duration such as 90d", []string{"add", "x", "-scopes", "send", "-expires", "soon"}},
		{"from[0]: want a network", []string{"add", "x", "-scopes", "send", "-from", "x"}},
		{"no such key", []string{"rotate", "nope"}},
		{"no such key", []string{"rm", "nope"}},
		{"refuses the token", []string{"list", "-token", "ck_nope_nope"}},
		{"an operator's: with the role admin", []string{"list", "-token", harness.Token("alice", "", time.Hour)}},
		{"scopes: a key may give no more than it has itself", []string{"add", "x", "-scopes", "send", "-token", strings.TrimSpace(keeper)}},
		{"no server answers", []string{"list", "-url", "http://" + redistest.FreeAddr(t)}},
	} {
		out, log, failed := keys(t, node, c.args...)
		if !failed || out != "" || !strings.Contains(log, c.says) {
			t.Errorf("%v: failed %v, wrote %q, does not say %q: %s", c.args, failed, out, c.says, log)
		}
	}
}

// TestClientActsWithAKey: one client with a key is two users, over HTTP and the websocket, and manages its own kind.
func TestClientActsWithAKey(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	node := harness.StartNode(t, harness.Config{})
	operator := must(client.New(node.URL(), client.StaticToken(harness.Token("op", "admin", time.Hour))))(t)
	made := must(operator.CreateKey(ctx, client.KeyDraft{
		Name: "bots", Scopes: []string{client.ScopeGroups, client.ScopeSend, client.ScopeRead}, As: client.ActsFor{Users: []string{"bot-*", "alice"}},
	}))(t)
	program := must(client.New(node.URL(), client.StaticToken(made.Key)))(t)
	if g := must(program.CreateGroup(ctx, client.GroupDraft{ID: "orders", Members: []string{"bot-1", "alice"}}))(t); g.CreatedBy != "key:"+made.ID {
		t.Errorf("got a group of %s", g.CreatedBy)
	}
	bot, alice := program.As("bot-1"), program.As("alice")
	stream := must(alice.Stream(ctx, client.StreamOptions{}))(t)
	defer stream.Close()
	sent := must(bot.Send(ctx, "orders", client.Text("shipped")))(t)
	until(ctx, t, stream.Next, func(e client.Messages) bool {
		return slices.ContainsFunc(e.Messages, func(m client.Message) bool { return m.ID == sent.ID && m.From == "bot-1" && m.Via == made.ID })
	})
	must(stream.Send(ctx, "orders", client.Text("thanks")))(t)
	must(bot.SendDirect(ctx, "alice", client.Direct{Body: "a receipt"}))(t)
	if inbox := must(alice.Inbox(ctx, nil, 10))(t); len(inbox.Items) == 0 || inbox.Items[len(inbox.Items)-1].Via != made.ID {
		t.Errorf("got the inbox %+v", inbox)
	}
	if _, err := program.As("mallory").Me(ctx); client.CodeOf(err) != client.CodeForbidden {
		t.Errorf("another user: got %v", err)
	}
	if _, err := program.Me(ctx); client.CodeOf(err) != client.CodeInvalid {
		t.Errorf("nobody: got %v", err)
	}

	name, off := "robots", ""
	changed := must(operator.UpdateKey(ctx, made.ID, client.KeyChange{Name: &name, Rate: &off, As: &client.ActsFor{Any: true}}))(t)
	if changed.Name != name || changed.Rate != nil || !changed.As.Any || changed.Key != "" {
		t.Errorf("got %+v", changed)
	}
	listed, next, err := operator.Keys(ctx, client.Page{Limit: 10})
	if one := must(operator.Key(ctx, made.ID))(t); err != nil || next != "" || len(listed) != 1 || listed[0].ID != made.ID || one.Name != name || one.LastUsedAt == nil {
		t.Errorf("got %+v and %+v, %v", listed, one, err)
	}
	if rotated := must(operator.RotateKey(ctx, made.ID, time.Hour))(t); rotated.Key == "" || rotated.Key == made.Key {
		t.Errorf("got %+v", rotated)
	}
	if err := operator.DeleteKey(ctx, made.ID); err != nil {
		t.Error(err)
	}
	until(ctx, t, stream.Next, func(e client.Disconnected) bool { return client.CodeOf(e.Err) == client.CodeUnauthenticated })
	if s := must(program.Server(ctx))(t); !slices.Contains(s.Features, "keys") || s.Limits["body"] != 16<<10 || s.Version == "" || s.Accounts {
		t.Errorf("got %+v", s) // also of whose key is void
	}
}
