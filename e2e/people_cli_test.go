package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// terminal is a person who runs commands, with a home of their own and no settings.
type terminal struct {
	t    *testing.T
	home string
}

func newTerminal(t *testing.T) terminal { return terminal{t, t.TempDir()} }

func (p terminal) command(ctx context.Context, args ...string) *exec.Cmd {
	p.t.Helper()
	cmd := exec.CommandContext(ctx, harness.Binary(p.t), args...)
	cmd.Env = []string{"HOME=" + p.home, "PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"}
	cmd.Dir = p.home
	return cmd
}

// run runs a command to its end, and checks its exit code.
func (p terminal) run(code int, stdin string, args ...string) (stdout, stderr string) {
	p.t.Helper()
	cmd := p.command(bounded(p.t, cliWait), args...)
	var out, log bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &log
	err := cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("%v: got exit code %d (%v), want %d\n%s%s", args, got, err, code, out.String(), log.String())
	}
	return out.String(), log.String()
}

// running is a command that goes on.
type running struct {
	*exec.Cmd
	t        *testing.T
	out, err *bufio.Reader
	in       io.WriteCloser
}

func (p terminal) start(args ...string) running {
	p.t.Helper()
	cmd := p.command(bounded(p.t, cliWait), args...)
	in := must(cmd.StdinPipe())(p.t)
	out, log := must(cmd.StdoutPipe())(p.t), must(cmd.StderrPipe())(p.t)
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = cmd.Process.Kill() })
	return running{cmd, p.t, bufio.NewReader(out), bufio.NewReader(log), in}
}

// line reads lines until one has a text, and returns it.
func (r running) line(from *bufio.Reader, text string) string {
	r.t.Helper()
	for seen := ""; ; {
		line, err := from.ReadString('\n')
		if strings.Contains(line, text) {
			return line
		}
		if seen += line; err != nil {
			r.t.Fatalf("%v: it does not say %q (%v):\n%s", r.Args[1:], text, err, seen)
		}
	}
}

// interrupt presses ctrl-C, which ends the command in order.
func (r running) interrupt() {
	r.t.Helper()
	_ = r.Process.Signal(syscall.SIGINT)
	if err := r.Wait(); err != nil {
		r.t.Errorf("%v: interrupted, it ends with %v", r.Args[1:], err)
	}
}

// kept is the file of a login.
func (p terminal) kept(name string) (path string, l map[string]string) {
	p.t.Helper()
	path = filepath.Join(p.home, ".config", "chatd", name+".login")
	if err := json.Unmarshal(must(os.ReadFile(path))(p.t), &l); err != nil {
		p.t.Fatal(err)
	}
	return path, l
}

// TestPeopleAtTheCommandLine has two people sign in, talk and follow a group, each with the commands alone.
func TestPeopleAtTheCommandLine(t *testing.T) {
	t.Parallel()
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_JWT_SECRET": ""}})
	root, bob := newTerminal(t), newTerminal(t)
	if _, log := bob.run(4, "", "groups", "-url", node.URL()); !strings.Contains(log, "chatd login -url "+node.URL()) {
		t.Errorf("nobody is signed in: it does not say what to do:\n%s", log)
	}
	if _, log := bob.run(5, "", "login", "-url", node.URL()); !strings.Contains(log, "a link that the server printed") {
		t.Errorf("before the first account:\n%s", log)
	}
	bob.run(2, "", "login", node.SignInURL())
	bob.run(5, "", "login", "-user", "bob", node.URL()+"/#code=wrong")
	bob.run(0, "", "login", "-name", "dev", node.SignInURL()+"&user=bob") // as chatd demo prints it
	if _, log := bob.run(5, "", "send", "nowhere", "hello"); !strings.Contains(log, "there is no group nowhere") {
		t.Errorf("a group that is not there:\n%s", log)
	}

	root.run(0, rightWord+"\n", "login", node.SetupURL(), "-user", "root", "-name", "ops")
	path, _ := root.kept("ops")
	if text := must(os.ReadFile(path))(t); bytes.Contains(text, []byte(rightWord)) {
		t.Errorf("the password is kept:\n%s", text)
	}
	if out, _ := root.run(0, "", "whoami"); out != "root at "+node.URL()+", an operator\n" {
		t.Errorf("whoami: got %q", out)
	}
	if out, _ := root.run(0, "", "users", "list", "-json"); !strings.Contains(out, `"user":"root"`) {
		t.Errorf("the login of an operator is not used for the commands of operators: got %q", out)
	}
	root.run(4, "wrong\n", "login", "-url", node.URL(), "-user", "root")
	if _, log := root.run(5, "", "send", "general", "hi"); !strings.Contains(log, "there is no group general") {
		t.Errorf("no such group: got %q", log)
	}

	_, l := root.kept("ops")
	admin := must(client.New(node.URL(), client.StaticToken(l["token"])))(t)
	ctx := bounded(t, cliWait)
	must(admin.CreateGroup(ctx, client.GroupDraft{ID: "general", Members: []string{"bob"}}))(t)
	if out, _ := root.run(0, "", "send", "general", "hi", "bob"); out != "3\n" {
		t.Errorf("send: got %q, want the id", out)
	}
	for range 2 {
		if out, _ := root.run(0, "from\na pipe\n", "send", "general", "-id", "k", "-"); out != "4\n" {
			t.Errorf("send of the same key: got %q", out)
		}
	}
	file := filepath.Join(root.home, "a b,c.txt")
	if err := os.WriteFile(file, []byte("twelve bytes"), 0o600); err != nil {
		t.Fatal(err)
	}
	root.run(0, "", "send", "general", "\u202ereversed", "-reply-to", "3", "-file", file)
	if out, _ := bob.run(0, "", "groups", "-unread"); !strings.Contains(out, "general  3       0 ") {
		t.Errorf("groups: got\n%s", out)
	}
	if out, _ := bob.run(0, "", "groups", "-json"); strings.Count(out, "\n") != 1 || !strings.Contains(out, `"unread":3`) {
		t.Errorf("groups -json: got\n%s", out)
	}
	testTail(t, node, root, bob)
	testLoginIsRenewed(t, root)

	bob.run(0, "", "logout")
	bob.run(4, "", "groups", "-url", node.URL())
	root.run(0, "", "users", "revoke", "root")
	if _, log := root.run(4, "", "groups"); !strings.Contains(log, "the login of root at "+node.URL()+" has ended: run chatd login") {
		t.Errorf("the login has ended: got %q", log)
	}
	root.run(0, rightWord+"\n", "login", "-url", node.URL(), "-user", "root")
	node.Terminate()
	root.run(6, "", "groups")
}

// testTail follows a group over the loss of the server, and goes on where it was.
func testTail(t *testing.T, node *harness.Node, root, bob terminal) {
	t.Helper()
	all := bob.start("tail", "general", "-n", "4")
	for _, want := range []string{" root adds bob\n", "root: hi bob\n", "root: from\n", "  a pipe\n"} {
		all.line(all.out, want)
	}
	if line := all.line(all.out, "#5"); !strings.HasSuffix(line, `root: (reply to #3) \u202ereversed [file a b,c.txt, 12 bytes]`+"\n") {
		t.Errorf("got %q", line)
	}
	all.interrupt()

	state := filepath.Join(bob.home, "position")
	follow := bob.start("tail", "general", "-n", "1", "-json", "-state", state)
	follow.line(follow.out, `"id":5`)
	root.run(0, "", "send", "general", "six")
	follow.line(follow.out, `"body":"six"`)
	node.Terminate()
	follow.line(follow.err, "not connected, trying again")
	node.Start()
	follow.line(follow.err, "connected again")
	root.run(0, "", "send", "general", "seven")
	var m client.Message
	if err := json.Unmarshal([]byte(follow.line(follow.out, "seven")), &m); err != nil || m.ID != 7 || m.Group != "general" {
		t.Errorf("got %+v, %v", m, err)
	}
	follow.interrupt()
	root.run(0, "", "send", "general", "eight")
	again := bob.start("tail", "general", "-json", "-state", state)
	if line := must(again.out.ReadString('\n'))(t); !strings.Contains(line, `"body":"eight"`) {
		t.Errorf("it goes on with %q", line)
	}
	again.interrupt()
	since := bob.start("tail", "general", "-json", "-since", "7")
	if line := must(since.out.ReadString('\n'))(t); !strings.Contains(line, `"body":"eight"`) {
		t.Errorf("-since 7 begins with %q", line)
	}
	since.interrupt()
	if _, log := bob.run(5, "", "tail", "nope"); !strings.Contains(log, "there is no group nope") {
		t.Errorf("got %q", log)
	}
}

// testLoginIsRenewed has several commands find an access token that has ended, at once.
func testLoginIsRenewed(t *testing.T, root terminal) {
	t.Helper()
	path, l := root.kept("ops")
	was := l["refresh"]
	l["token"] = ""
	if err := os.WriteFile(path, must(json.Marshal(l))(t), 0o600); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { root.run(0, "", "whoami") })
	}
	all.Wait()
	if _, l := root.kept("ops"); l["refresh"] == was || l["token"] == "" {
		t.Errorf("the new tokens are not kept: %v", l)
	}
	if info := must(os.Stat(path))(t); info.Mode() != 0o600 {
		t.Errorf("others may read the login: %v", info.Mode())
	}
	root.run(0, "", "groups")
}

// TestPeopleChatInTheTerminal has two people talk by chatd chat, one with lines alone and one with a terminal.
func TestPeopleChatInTheTerminal(t *testing.T) {
	t.Parallel()
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_JWT_SECRET": ""}})
	zoe, bob := newTerminal(t), newTerminal(t)
	zoe.run(0, "", "login", "-user", "zoe", node.SignInURL())
	bob.run(0, "", "login", "-user", "bob", node.SignInURL())
	token := strings.TrimSpace(string(must(node.Command(t.Context(), "token", "-user", "zoe").Output())(t)))
	owner := must(client.New(node.URL(), client.StaticToken(token)))(t)
	ctx := bounded(t, cliWait)
	for _, group := range []string{"general", "random"} {
		must(owner.CreateGroup(ctx, client.GroupDraft{ID: group, Members: []string{"bob"}}))(t)
	}
	bob.run(5, "", "chat", "nope")
	chat := bob.start("chat", "general")
	say := func(line string) { _ = must(io.WriteString(chat.in, line+"\n"))(t) }
	chat.line(chat.out, "zoe adds bob")
	screen := openScreen(t, zoe, "chat", "general")
	screen.shows("zoe adds bob")
	say("hello from a pipe")
	chat.line(chat.out, "-- sent as #3")
	screen.shows("#3 ", "bob: hello from a pipe")
	screen.types("/rea\t3 👍\r")
	chat.line(chat.out, "-- #3 has 👍 1")
	screen.types("\x1b[200~two\nlines\x1b[201~\r") // pasted
	chat.line(chat.out, "zoe: two")
	if line := must(chat.out.ReadString('\n'))(t); line != "  lines\n" {
		t.Errorf("what is pasted is not one message: %q", line)
	}
	must(owner.Send(ctx, "general", client.Text("\u202ereversed")))(t)
	if line := chat.line(chat.out, "reversed"); !strings.HasSuffix(line, `zoe: \u202ereversed`+"\n") {
		t.Errorf("got %q", line)
	}
	screen.shows(`\u202ereversed`)
	// Beside letters of two columns the editor does not know where it is: the line is drawn anew from its beginning.
	screen.types("王伟\x7f")
	screen.shows("\r\x1b[10D\x1b[Kgeneral> 王")
	must(owner.Send(ctx, "general", client.Text("meanwhile")))(t)
	screen.shows("\r\x1b[10D\x1b[K#", "meanwhile\r\ngeneral> 王")
	screen.types("\x7f")
	must(owner.Send(ctx, "random", client.Text("elsewhere")))(t)
	chat.line(chat.out, "-- 1 unread in random: /open random")
	say("/edit 3 hello again")
	screen.shows("#3 is now: hello again")
	say("/open random")
	chat.line(chat.out, "zoe: elsewhere")
	say("/nope")
	chat.line(chat.out, "-- there is no /nope")
	say("the last word")
	if err := chat.in.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, chat.out); err != nil {
		t.Fatal(err)
	}
	if err := chat.Wait(); err != nil {
		t.Errorf("at the end of the input: %v", err)
	}
	last := must(owner.Messages(ctx, "random", client.Range{Before: 1 << 50, Limit: 1}))(t)
	if len(last.Messages) != 1 || last.Messages[0].Body != "the last word" {
		t.Errorf("what was written before the end is not sent: %+v", last.Messages)
	}
	screen.types("\x04") // ctrl-D
	if err := screen.cmd.Wait(); err != nil {
		t.Errorf("ctrl-D: %v", err)
	}
}

// screen is a command at a terminal.
type screen struct {
	t     *testing.T
	cmd   *exec.Cmd
	tty   *os.File
	lines chan string
	seen  string
}

func openScreen(t *testing.T, p terminal, args ...string) *screen {
	t.Helper()
	tty := must(os.OpenFile("/dev/ptmx", os.O_RDWR, 0))(t)
	t.Cleanup(func() { _ = tty.Close() })
	var number, locked int32
	for request, value := range map[uintptr]*int32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &locked} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, tty.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
			t.Fatal(errno)
		}
	}
	end := must(os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0))(t)
	s := &screen{t: t, cmd: p.command(bounded(t, cliWait), args...), tty: tty, lines: make(chan string, 1000)}
	s.cmd.Env = append(s.cmd.Env, "TERM=xterm")
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = end, end, end
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = end.Close()
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	go func() {
		defer close(s.lines)
		for buf := make([]byte, 4096); ; {
			n, err := tty.Read(buf)
			if err != nil {
				return
			}
			s.lines <- string(buf[:n])
		}
	}()
	return s
}

func (s *screen) types(keys string) {
	s.t.Helper()
	_ = must(s.tty.WriteString(keys))(s.t)
}

// shows waits until texts have been written to the screen.
func (s *screen) shows(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		for !strings.Contains(s.seen, text) {
			s.seen += harness.Receive(s.t, cliWait, text, s.lines)
		}
	}
}
