package main

import (
	"context"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
)

const walkMax = time.Minute

func TestMain(m *testing.M) { harness.Main(m) }

// TestBackends walks the same way with each program, with the key that `chatd keys add` prints; twice, since all but the rotation
// may be repeated.
func TestBackends(t *testing.T) {
	node := harness.StartNode(t, harness.Config{})
	script := func(program string, args ...string) func(context.Context, string, string, io.Writer) error {
		return func(ctx context.Context, key, group string, out io.Writer) error {
			cmd := exec.CommandContext(ctx, program, append(args, group)...)
			cmd.Env = append(cmd.Environ(), "CHATD_URL="+node.URL(), "CHATD_KEY="+key)
			cmd.Stdout, cmd.Stderr = out, out
			return cmd.Run()
		}
	}
	for name, walks := range map[string]func(ctx context.Context, key, group string, out io.Writer) error{
		"curl": script("./backend.sh"), "node": script("node", "backend.mjs"), "python": script("python3", "backend.py"),
		"go": func(ctx context.Context, key, group string, out io.Writer) error {
			return walk(ctx, node.URL(), key, group, out)
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), walkMax)
			defer cancel()
			add := node.Command(ctx, "keys", "add", name, "-scopes", "groups,send,read,keys", "-as", "bot-*,alice", "-groups", name+"*")
			made, err := add.Output()
			if err != nil {
				t.Fatalf("keys add: %v", err)
			}
			key := strings.TrimSpace(string(made))
			id := strings.Split(key, "_")[1]
			for range 2 {
				var out strings.Builder
				if err := walks(ctx, key, name+"-orders", &out); err != nil {
					t.Fatalf("%v:\n%s", err, out.String())
				}
				// In order, each once: the rotated key serves the last line.
				want := `(?s)^[^\n]*Order 1 has shipped.*` + id + `.*Thanks.*` + id + `[^\n]*\n2 members, with the new key\n$`
				if !regexp.MustCompile(want).MatchString(out.String()) || strings.Count(out.String(), "Thanks") != 1 {
					t.Errorf("got\n%s", out.String())
				}
			}
		})
	}
}
