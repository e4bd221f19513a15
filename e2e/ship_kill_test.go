package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

var (
	shipMiB   = flag.Int("ship", 16, "MiB of log lines that TestShippedLinesSurviveKills ships; `make soak` ships 1,024")
	shipKills = flag.Int("ship-kills", 3, "how often it kills the shipper and each processor")
)

// shipping is a run of chatd ship and several chatd process, each in a folder of its own.
type shipping struct {
	t     *testing.T
	node  *harness.Node
	dir   string
	parts int // about how many there will be
}

// saveParts writes each part to a file of its number, and says so in its last line and in the file order. Near the end it waits
// until everybody was killed as often as they are to be.
const saveParts = `while [ $CHATD_PART -ge ${HOLD_AT:-999999} ] && [ -e unkilled -o -e ../shipper/unkilled ]; do sleep 0.05; done; cat >part.tmp && mv part.tmp part.$(printf %06d $CHATD_PART) && echo $CHATD_PART >>order && echo "stored $CHATD_PART"`

func (s *shipping) folder(user string) string {
	dir := filepath.Join(s.dir, user)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.t.Error(err)
	}
	return dir
}

// command prepares a run as a user.
func (s *shipping) command(ctx context.Context, user string, args ...string) *exec.Cmd {
	cmd := s.node.Command(ctx, args...)
	cmd.Dir = s.folder(user)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

func (s *shipping) ship(ctx context.Context, args ...string) *exec.Cmd {
	return s.command(ctx, "shipper", append([]string{"ship", "-user", "shipper", "-group", "logs"}, args...)...)
}

func (s *shipping) process(ctx context.Context, user string) *exec.Cmd {
	cmd := s.command(ctx, user, "process", "-user", user, "-group", "logs", "--", "sh", "-c", saveParts)
	if s.parts > 0 {
		cmd.Env = append(cmd.Environ(), fmt.Sprint("HOLD_AT=", s.parts*15/16))
	}
	return cmd
}

// unkilled is there as long as a user is yet to be killed.
func (s *shipping) unkilled(user string) string { return filepath.Join(s.folder(user), "unkilled") }

// order are the parts that a processor got, as they came.
func (s *shipping) order(user string) (parts []int) {
	text, err := os.ReadFile(filepath.Join(s.folder(user), "order"))
	if err != nil && !os.IsNotExist(err) {
		s.t.Error(err)
	}
	for _, line := range strings.Fields(string(text)) {
		n, err := strconv.Atoi(line)
		if err != nil {
			s.t.Error(err)
		}
		parts = append(parts, n)
	}
	return parts
}

// shipped is how many parts the shipper says to have shipped.
func (s *shipping) shipped() int {
	var state struct{ Parts int }
	text, err := os.ReadFile(filepath.Join(s.folder("shipper"), "logs.shipper.ship"))
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	if err != nil && !os.IsNotExist(err) {
		s.t.Error(err)
	}
	return state.Parts
}

// killedAt runs a command of a user until it ends by itself. Each time progress reaches the next of the marks it is killed, and
// started again.
func (s *shipping) killedAt(user string, marks []int, progress func() int, start func() *exec.Cmd) {
	for {
		if len(marks) == 0 {
			if err := os.Remove(s.unkilled(user)); err != nil && !os.IsNotExist(err) {
				s.t.Error(err)
			}
		}
		cmd := start()
		var log bytes.Buffer
		if cmd.Stderr == nil {
			cmd.Stderr = &log
		}
		if err := cmd.Start(); err != nil {
			s.t.Error(err)
			return
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		var err error
		killed := false
		for running := true; running; {
			select {
			case err = <-ended:
				running = false
			case <-time.After(2 * time.Millisecond):
				if !killed && len(marks) > 0 && progress() >= marks[0] {
					marks, killed = marks[1:], true
					_ = cmd.Process.Kill() // it may have ended
				}
			}
		}
		switch {
		case err == nil && len(marks) > 0:
			s.t.Errorf("%s ended %d kills too early", cmd.Args[1], len(marks))
			return
		case err == nil:
			return
		case !killed || s.t.Failed():
			s.t.Errorf("%v: %v\n%s", cmd.Args[1:], err, log.Bytes())
			return
		}
	}
}

// marks spreads n kills over the whole run, up to where the processors wait for the last of them.
func (s *shipping) marks(n int, pick func(int) int) []int {
	var marks []int
	for i := range n {
		part := s.parts * 7 / 8 / n
		marks = append(marks, 1+i*part+pick(max(1, part)))
	}
	slices.Sort(marks)
	return marks
}

// check compares what a processor has with the source.
func (s *shipping) check(user string, source [32]byte) {
	s.t.Helper()
	digest, last := sha256.New(), 0
	for i, n := range s.order(user) {
		if n != last && n != last+1 {
			s.t.Errorf("%s: part %d came after part %d, as the %dth", user, n, last, i+1)
		}
		last = n
	}
	files := must(filepath.Glob(filepath.Join(s.folder(user), "part.0*")))(s.t)
	for _, name := range files {
		if _, err := digest.Write(must(os.ReadFile(name))(s.t)); err != nil {
			s.t.Error(err)
		}
	}
	if len(files) != last || [32]byte(digest.Sum(nil)) != source {
		s.t.Errorf("%s: has %d of %d parts, or other bytes than were shipped", user, len(files), last)
	}
}

// blobBytes is what the files of a node take on disk.
func (s *shipping) blobBytes() (bytes int64, blobs int) {
	err := filepath.WalkDir(filepath.Join(s.node.Data, "files", "blobs"), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				bytes, blobs = bytes+info.Size(), blobs+1
			}
		}
		return nil // it may have been removed meanwhile
	})
	if err != nil {
		s.t.Error(err)
	}
	return bytes, blobs
}

// noFiles waits until neither bytes nor records of files are left.
func (s *shipping) noFiles(redis *redistest.Server) {
	s.t.Helper()
	harness.Eventually(s.t, time.Minute, "all files are removed", func() error {
		if bytes, blobs := s.blobBytes(); blobs > 0 {
			return fmt.Errorf("%d blobs of %d bytes", blobs, bytes)
		}
		keys := redis.Do("KEYS", "*file*").([]any)
		for _, key := range keys {
			if kind := redis.Do("TYPE", key.(string)); kind != "string" {
				return fmt.Errorf("records: %v", keys)
			}
		}
		return nil
	})
}

// auditor is a member who reads along.
type auditor struct {
	mu      sync.Mutex
	seen    map[string]int // how often each message came, by sender and data
	parts   int
	largest int64 // bytes of the largest file
	ended   chan error
}

// audit reads along until ctx ends.
func audit(ctx context.Context, node *harness.Node) *auditor {
	a := &auditor{seen: map[string]int{}, ended: make(chan error, 1)}
	poll := node.Client("auditor", patient()).Poll(client.PollOptions{Ack: true, Wait: time.Second})
	go func() {
		for {
			event, err := poll.Next(ctx)
			if ctx.Err() != nil {
				err = nil
			}
			if err != nil || ctx.Err() != nil {
				a.ended <- err
				return
			}
			if messages, ok := event.(client.Messages); ok {
				a.take(messages.Messages)
			}
		}
	}()
	return a
}

func (a *auditor) take(messages []client.Message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range messages {
		if m.Kind == client.KindData {
			a.seen[m.From+string(m.Data)]++
		}
		for _, f := range m.Files {
			a.parts, a.largest = a.parts+1, max(a.largest, f.Size)
		}
	}
}

// partsPosted is how many parts are in the group: the shipper may not know it yet.
func (a *auditor) partsPosted() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.parts
}

// messages is how many different messages there were.
func (a *auditor) messages() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.seen)
}

// TestShippedLinesSurviveKills ships log lines to three processors, kills the shipper and each of them several times, and
// compares: everyone has every line in order, nothing counts twice, memory and disk are bounded, and nothing is left.
func TestShippedLinesSurviveKills(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Duration(1+*shipMiB/16)*time.Minute)
	const segment, backlogBytes = 1 << 20, 1 << 20
	redis := redistest.Start(t)
	data := t.TempDir()
	node := harness.StartNode(t, harness.Config{Redis: redis.URL(), Data: data, Env: map[string]string{"CHATD_FILES": "dir:" + filepath.Join(data, "files")}})
	s := &shipping{t: t, node: node, dir: t.TempDir(), parts: *shipMiB}
	backlog := int64(backlogBytes)
	blockGroup(ctx, t, node, client.GroupDraft{ID: "logs", Members: []string{"p1", "p2", "p3", "auditor"}, BacklogBytes: &backlog})

	source, digest := filepath.Join(s.dir, "app.log"), sha256.New()
	file := must(os.Create(source))(t)
	block := logLines(t, 4<<20) // longer than what the compressor looks back
	for i := range max(1, *shipMiB/4) {
		if _, err := io.MultiWriter(file, digest).Write(append(fmt.Appendf(nil, "block %d\n", i), block...)); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	r := random(t)
	auditing, stop := context.WithCancel(ctx)
	defer stop()
	audited := audit(auditing, node)
	var disk atomic.Int64
	var watching, running sync.WaitGroup
	watching.Go(func() {
		for auditing.Err() == nil {
			bytes, _ := s.blobBytes()
			disk.Store(max(disk.Load(), bytes))
			harness.Pause(auditing, 10*time.Millisecond)
		}
	})
	began := time.Now()
	for _, user := range []string{"p1", "p2", "p3", "shipper"} {
		if err := os.WriteFile(s.unkilled(user), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, user := range []string{"p1", "p2", "p3"} {
		marks := s.marks(*shipKills, r.IntN)
		running.Go(func() {
			s.killedAt(user, marks, func() int { return len(s.order(user)) }, func() *exec.Cmd { return s.process(ctx, user) })
		})
	}
	s.killedAt("shipper", s.marks(*shipKills, r.IntN), audited.partsPosted, func() *exec.Cmd {
		return s.ship(ctx, "-segment", strconv.Itoa(segment), "-wait", "-delete", source)
	})
	running.Wait()
	took := time.Since(began)
	for _, user := range []string{"p1", "p2", "p3"} {
		s.check(user, [32]byte(digest.Sum(nil)))
	}
	if _, err := os.Stat(source); !os.IsNotExist(err) {
		t.Errorf("the shipped file is still there: %v", err)
	}
	parts := s.shipped()
	harness.Eventually(t, time.Minute, "everything is audited", func() error {
		if got, want := audited.messages(), 4*parts+1; got < want {
			return fmt.Errorf("%d messages of %d", got, want)
		}
		return nil
	})
	s.noFiles(redis)
	stop()
	watching.Wait()
	if err := <-audited.ended; err != nil {
		t.Error(err)
	}
	for message, n := range audited.seen {
		if n != 1 {
			t.Errorf("%d times: %s", n, message)
		}
	}
	if got := audited.messages(); got != 4*parts+1 {
		t.Errorf("%d messages, want %d parts, three results of each, and the end mark", got, parts)
	}
	peak := redis.Field("memory", "used_memory_peak")
	t.Logf("%d parts in %v, peak of Redis %d KiB, of the disk %d KiB; the largest part %d KiB", parts, took.Round(time.Millisecond), peak>>10, disk.Load()>>10,
		audited.largest>>10)
	if peak > 20<<20 {
		t.Errorf("Redis had %d bytes", peak)
	}
	// A part counts as backlog before its upload begins. What comes on top has been processed by all, and a task is about to
	// remove it: up to two parts, as the shipper pauses while the group is full.
	if disk.Load() > backlogBytes+2*audited.largest {
		t.Errorf("%d bytes on disk, the largest part has %d", disk.Load(), audited.largest)
	}
}
