package e2e

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// TestUsersCommand makes the first operator without a browser, and changes accounts, beside a server with the embedded store.
func TestUsersCommand(t *testing.T) {
	t.Parallel()
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_JWT_SECRET": ""}})
	if setup, other := bytes.Index(node.Log(), []byte("/#setup=")), bytes.Index(node.Log(), []byte("/#code=")); setup < 0 || other < setup {
		t.Errorf("a newcomer does not get the setup link, and after it the one without an account:\n%s", node.Log())
	}
	ctx := bounded(t, cliWait)
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(rightWord+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(stdin string, args ...string) (string, error) {
		t.Helper()
		cmd := node.Command(ctx, append([]string{"users"}, args...)...)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr, cmd.Stdin = &out, &out, strings.NewReader(stdin)
		err := cmd.Run()
		return out.String(), err
	}
	done := func(stdin string, args ...string) string {
		t.Helper()
		out, err := run(stdin, args...)
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return out
	}
	signIn := func(user, password string) (*client.Login, error) {
		return client.SignIn(ctx, node.URL(), client.Credentials{User: user, Password: password})
	}
	done("", "add", "root", "-role", "admin", "-password-file", file)
	root := must(signIn("root", rightWord))(t)
	if me := must(must(client.New(node.URL(), root.Token))(t).Me(ctx))(t); me.User != "root" || me.Role != "admin" {
		t.Errorf("got %+v", me)
	}
	links := bytes.Count(node.Log(), []byte("/#"))
	node.Terminate()
	node.Start()
	if bytes.Count(node.Log(), []byte("/#")) != links {
		t.Errorf("the start prints a link although there is an operator:\n%s", node.Log())
	}
	done(rightWord+"\n", "add", "alice")
	if out, err := run(rightWord, "add", "alice"); err == nil || !strings.Contains(out, "taken") {
		t.Errorf("twice: %v\n%s", err, out)
	}
	if out, err := run("short\n", "add", "bob"); err == nil || !strings.Contains(out, "10 characters") {
		t.Errorf("a short password: %v\n%s", err, out)
	}
	list := done("", "list")
	if strings.Count(list, "\n") != 3 || !strings.Contains(list, "alice") || !strings.Contains(list, "root   admin") {
		t.Errorf("got the list\n%s", list)
	}
	if json := done("", "list", "-json"); strings.Count(json, "\n") != 2 || !strings.Contains(json, `"user":"alice"`) || strings.Contains(json, "argon2") {
		t.Errorf("got\n%s", json)
	}
	alice := must(signIn("alice", rightWord))(t)
	done("another password\n", "passwd", "alice")
	if _, err := must(client.ResumeLogin(node.URL(), alice.RefreshToken()))(t).Token(ctx); client.CodeOf(err) != client.CodeUnauthenticated {
		t.Errorf("a login of before the new password: %v", err)
	}
	alice = must(signIn("alice", "another password"))(t)
	done("", "revoke", "alice")
	if _, err := must(client.ResumeLogin(node.URL(), alice.RefreshToken()))(t).Token(ctx); client.CodeOf(err) != client.CodeUnauthenticated {
		t.Errorf("a login of before the revocation: %v", err)
	}
	done("", "disable", "alice")
	if _, err := signIn("alice", "another password"); client.CodeOf(err) != client.CodeForbidden {
		t.Errorf("disabled: %v", err)
	}
	if out, err := run("yet another word\n", "passwd", "alice"); err == nil || !strings.Contains(out, "the user is disabled") {
		t.Errorf("a password of a disabled user: %v\n%s", err, out)
	}
	done("", "disable", "alice", "-undo")
	alice = must(signIn("alice", "another password"))(t)
	me := must(client.New(node.URL(), alice.Token))(t)
	if logins := must(me.Logins(ctx))(t); len(logins) != 1 || !logins[0].Current {
		t.Errorf("got the logins %+v", logins)
	}
	must(struct{}{}, me.EndLogin(ctx, ""))(t)
	must(struct{}{}, alice.SignOut(ctx))(t)
	if _, err := me.Me(context.WithoutCancel(ctx)); client.CodeOf(err) != client.CodeUnauthenticated {
		t.Errorf("after signing out: %v", err)
	}
}
