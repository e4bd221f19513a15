package main

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

const (
	walkMax   = 2 * time.Minute // one of the programs is compiled first
	revokeMax = 5 * time.Second
)

func TestMain(m *testing.M) { harness.Main(m) }

// TestBackends walks the same way with each program, with the key that `chatd keys add` prints; twice, since all of it may be repeated.
func TestBackends(t *testing.T) {
	for name, program := range map[string][]string{
		"curl": {"./backend.sh"}, "go": {"go", "run", "."}, "node": {"node", "backend.mjs"}, "python": {"python3", "backend.py"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), walkMax)
			defer cancel()
			node := harness.StartNode(t, harness.Config{})
			made, err := node.Command(ctx, "keys", "add", name, "-scopes", "users,groups,send,read", "-as", "user-*").Output()
			if err != nil {
				t.Fatalf("keys add: %v", err)
			}
			key := strings.TrimSpace(string(made))
			id := strings.Split(key, "_")[1]
			revoked, other := node.Client("user-2"), node.Client("user-3")
			if _, err := revoked.Me(ctx); err != nil {
				t.Fatalf("before the program: %v", err)
			}
			for range 2 {
				cmd := exec.CommandContext(ctx, program[0], append(program[1:], "orders")...)
				cmd.Env = append(cmd.Environ(), "CHATD_URL="+node.URL(), "CHATD_KEY="+key)
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v:\n%s", err, out)
				}
				// In order, each once.
				want := `(?s)^[^\n]*Order 1 has shipped.*` + id + `.*Thanks.*` + id + `[^\n]*\n1000 members, tokens of user-2 revoked\n$`
				if !regexp.MustCompile(want).Match(out) || bytes.Count(out, []byte("Thanks")) != 1 {
					t.Errorf("got\n%s", out)
				}
			}
			harness.Eventually(t, revokeMax, "the token of user-2 is refused", func() error {
				_, err := revoked.Me(ctx)
				if refused := (*client.Error)(nil); !errors.As(err, &refused) || refused.Status != 401 {
					return errors.New("it is not")
				}
				return nil
			})
			if me, err := other.Me(ctx); err != nil || me.Name != "User 3" {
				t.Errorf("user-3: got %+v, %v", me, err)
			}
		})
	}
}
