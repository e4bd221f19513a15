package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// TestAccountsSurviveAKill kills the server while people register and change their passwords: who got an answer has what it says, and
// who got none has all of it or nothing, which a retry ends.
func TestAccountsSurviveAKill(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, 3*time.Minute)
	node := accountsNode(t)
	once := client.WithRetry(1, client.Backoff{})
	open := must(client.New(node.URL(), client.NoToken, once))(t)
	signIn := func(user, password string) (*client.Login, error) {
		return client.SignIn(ctx, node.URL(), client.Credentials{User: user, Password: password}, once)
	}
	const changers = 3
	for i := range changers {
		must(struct{}{}, open.Register(ctx, client.AccountDraft{User: fmt.Sprint("changer-", i), Password: rightWord}))(t)
	}
	password := func(i, n int) string { return fmt.Sprintf("%s %d %d", rightWord, i, n) }

	var wg sync.WaitGroup
	killed, stop := context.WithCancel(ctx)
	registered := make([]map[string]error, 3)
	for i := range registered {
		registered[i] = map[string]error{}
		wg.Go(func() {
			for n := 0; killed.Err() == nil; n++ {
				user := fmt.Sprintf("user-%d-%d", i, n)
				registered[i][user] = open.Register(ctx, client.AccountDraft{User: user, Password: rightWord})
			}
		})
	}
	changes := make([]int, changers) // how often the password was changed, as far as an answer came
	for i := range changers {
		wg.Go(func() {
			login, err := signIn(fmt.Sprint("changer-", i), rightWord)
			if err != nil {
				return
			}
			me := must(client.New(node.URL(), login.Token, once))(t)
			for old := rightWord; killed.Err() == nil; {
				next := password(i, changes[i]+1)
				if me.ChangePassword(ctx, old, next) != nil {
					return
				}
				changes[i]++
				old = next
			}
		})
	}
	harness.Eventually(t, time.Minute, "some have registered", func() error {
		if _, err := signIn("user-0-3", rightWord); err != nil {
			return err
		}
		return nil
	})
	node.Kill()
	stop()
	wg.Wait()
	node.Start()

	for _, all := range registered {
		for user, err := range all {
			if err != nil { // no answer: all or nothing, and a retry ends it
				if err := open.Register(ctx, client.AccountDraft{User: user, Password: rightWord}); err != nil && client.CodeOf(err) != client.CodeExists {
					t.Errorf("%s, again: %v", user, err)
				}
			}
			if _, err := signIn(user, rightWord); err != nil {
				t.Errorf("%s cannot sign in: %v", user, err)
			}
		}
	}
	for i := range changers {
		user, holding := fmt.Sprint("changer-", i), 0
		for _, n := range []int{changes[i], changes[i] + 1} {
			with := password(i, n)
			if n == 0 {
				with = rightWord
			}
			if _, err := signIn(user, with); err == nil {
				holding++
			} else if client.CodeOf(err) != client.CodeUnauthenticated {
				t.Errorf("%s: %v", user, err)
			}
		}
		if holding != 1 {
			t.Errorf("%s has %d passwords of the last answered one and the one under way, want 1", user, holding)
		}
	}
}
