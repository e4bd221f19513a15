package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/jstest"
	"github.com/chatd/chatd/internal/npm"
)

func TestMain(m *testing.M) { harness.Main(m) }

const within = 60 * time.Second

// startModel stands for an endpoint: it says each word of the question, one after the other.
func startModel(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Stream   bool
			Messages []struct{ Content string }
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.URL.Path != "/v1/chat/completions" || !asked.Stream || len(asked.Messages) != 1 {
			t.Errorf("the model was asked %s %+v: %v", r.URL.Path, asked, err)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, word := range strings.Fields("You asked: " + asked.Messages[0].Content) {
			piece, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"delta": map[string]string{"content": word + " "}}}})
			_, _ = fmt.Fprintf(w, "data: %s\n\n", piece)
			w.(http.Flusher).Flush()
		}
		_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// asks asks a bot that is ready, and waits for its answer.
func asks(t *testing.T, node *harness.Node, bot string) {
	t.Helper()
	ann := node.Client("ann")
	sent, err := ann.Send(t.Context(), "g", client.Text("wörter 😀 und mehr"))
	if err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, within, bot+" answers", func() error {
		batch, err := ann.Messages(t.Context(), "g", client.Range{Before: 1 << 40})
		if err != nil {
			return err
		}
		for _, m := range batch.Messages {
			if m.From == bot && m.ReplyTo == sent.ID && m.Stream == "" && m.Body == "You asked: wörter 😀 und mehr " {
				return nil
			}
		}
		return fmt.Errorf("there is %d", len(batch.Messages))
	})
}

func group(t *testing.T, node *harness.Node, bot string) {
	t.Helper()
	if _, err := node.Client("ann").CreateGroup(t.Context(), client.GroupDraft{ID: "g", Members: []string{bot}}); err != nil {
		t.Fatal(err)
	}
}

func TestBot(t *testing.T) {
	t.Parallel()
	node := harness.StartNode(t, harness.Config{})
	group(t, node, "bot")
	done := make(chan error, 1)
	go func() { done <- run(t.Context(), node.Client("bot"), model{url: startModel(t), name: "small"}) }()
	asks(t, node, "bot")
}

func TestNodeBot(t *testing.T) {
	t.Parallel()
	node := harness.StartNode(t, harness.Config{})
	group(t, node, "robot")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sdk, err := filepath.Abs("../../sdk/js")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("bot.mjs")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "bot.mjs"), program, 0o600)
	}
	if err == nil {
		err = npm.Link(filepath.Join(dir, "node_modules"), jstest.Modules(t), map[string]string{"@chatd/client": sdk})
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "bot.mjs")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), "CHATD_URL="+node.URL(), "CHATD_TOKEN="+harness.Token("robot", "", time.Hour), "MODEL_URL="+startModel(t))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}()
	if line := bufio.NewScanner(out); !line.Scan() || line.Text() != "robot is ready" {
		t.Fatalf("it says %q", line.Text())
	}
	asks(t, node, "robot")
}
