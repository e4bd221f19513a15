package bot

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/jstest"
	"github.com/chatd/chatd/internal/npm"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	kills   = 6
	perLife = 40 // messages at most, and a quarter as many while the bot is away
	group   = "general"
	within  = 30 * time.Second // the bot answers
)

// TestBotAnswersOnce kills the bot in the middle of traffic, each time when an answer of it has just come and more are due.
func TestBotAnswersOnce(t *testing.T) {
	t.Parallel()
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_RATE_USER": "off"}})
	ann := node.Client("ann")
	if _, err := ann.CreateGroup(t.Context(), client.GroupDraft{ID: group, Members: []string{"bot"}}); err != nil {
		t.Fatal(err)
	}
	sent := 0
	send := func() {
		sent++
		if _, err := ann.Send(t.Context(), group, client.Text(fmt.Sprint(sent))); err != nil {
			t.Fatal(err)
		}
	}
	answered := func(n int) {
		t.Helper()
		harness.Eventually(t, within, fmt.Sprintf("%d messages are answered", n), func() error {
			if got := len(answers(t, ann)); got < n {
				return fmt.Errorf("%d are", got)
			}
			return nil
		})
	}
	start := bot(t, node.URL())
	for range kills {
		before := len(answers(t, ann))
		end := start()
		for range perLife {
			send()
		}
		answered(before + perLife/4)
		end(syscall.SIGKILL)
		for range perLife / 4 {
			send()
		}
	}
	for range 2 { // the second time there is nothing left of before
		end := start()
		send()
		answered(sent)
		end(syscall.SIGTERM)
	}
	for to, bodies := range answers(t, ann) {
		if len(bodies) != 1 {
			t.Errorf("message %d has the answers %q", to, bodies)
		}
	}
}

// answers are the bot's, by the id of the message, which they repeat.
func answers(t *testing.T, ann *client.Client) map[int64][]string {
	t.Helper()
	all, texts := map[int64][]string{}, map[int64]string{}
	for after := client.Position("0"); ; {
		batch, err := ann.Messages(t.Context(), group, client.Range{After: after})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range batch.Messages {
			texts[m.ID] = m.Body
			if m.From != "bot" || m.Kind != "text" {
				continue
			}
			if want := "You said: " + texts[m.ReplyTo]; m.Body != want {
				t.Errorf("message %d is answered with %q, not with %q", m.ReplyTo, m.Body, want)
			}
			all[m.ReplyTo] = append(all[m.ReplyTo], m.Body)
		}
		if after = batch.Cursor; !batch.HasMore {
			return all
		}
	}
}

// bot returns how to start the bot, as npm would have installed it, and wait until it is ready; and that, how to end it.
func bot(t *testing.T, url string) (start func() (end func(syscall.Signal))) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("bot.js")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"bot.js": string(program), "package.json": `{"type": "module"}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := npm.Link(filepath.Join(dir, "node_modules"), jstest.Modules(t), map[string]string{"@chatd/client": filepath.Join("..", "..", "sdk", "js")}); err != nil {
		t.Fatal(err)
	}
	return func() func(syscall.Signal) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "node", "bot.js")
		cmd.Dir, cmd.Stderr = dir, t.Output()
		cmd.Env = append(os.Environ(), "CHATD_URL="+url, "CHATD_TOKEN="+harness.Token("bot", "", time.Hour))
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if line != "bot is ready\n" {
			t.Fatalf("the bot says %q (%v)", line, err)
		}
		return func(signal syscall.Signal) {
			t.Helper()
			_ = cmd.Process.Signal(signal)
			if err := cmd.Wait(); err != nil && signal == syscall.SIGTERM {
				t.Errorf("the bot ends with %v", err)
			}
		}
	}
}
