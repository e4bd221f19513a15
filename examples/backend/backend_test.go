package main

import (
	"bytes"
	"context"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/internal/harness"
)

const walkMax = 2 * time.Minute // one of the programs is compiled first

func TestMain(m *testing.M) { harness.Main(m) }

// TestBackends walks the same way with each program, with the key that `chatd keys add` prints; twice, since all but the rotation
// may be repeated.
func TestBackends(t *testing.T) {
	node := harness.StartNode(t, harness.Config{})
	for name, program := range map[string][]string{
		"curl": {"./backend.sh"}, "go": {"go", "run", "."}, "node": {"node", "backend.mjs"}, "python": {"python3", "backend.py"},
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
				cmd := exec.CommandContext(ctx, program[0], append(program[1:], name+"-orders")...)
				cmd.Env = append(cmd.Environ(), "CHATD_URL="+node.URL(), "CHATD_KEY="+key)
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v:\n%s", err, out)
				}
				// In order, each once: the rotated key serves the last line.
				want := `(?s)^[^\n]*Order 1 has shipped.*` + id + `.*Thanks.*` + id + `[^\n]*\n2 members, with the new key\n$`
				if !regexp.MustCompile(want).Match(out) || bytes.Count(out, []byte("Thanks")) != 1 {
					t.Errorf("got\n%s", out)
				}
			}
		})
	}
}
