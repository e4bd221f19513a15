package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestGateRefuses(t *testing.T) {
	ctx := context.Background()
	s := openStore(t, Options{Dir: t.TempDir()})
	c := client(t, s)
	for _, cmd := range []string{
		"SET k v", "DEL k", "FLUSHALL", "FLUSHDB", "SWAPDB 0 1", "EXPIRE k 10", "XADD s * a b", "PFADD h a", "BLPOP k 0",
		"RESTORE k 0 x", "MOVE k 1", "GETEX k EX 10", "SELECT 1", "OBJECT IDLETIME k",
	} {
		args := []any{}
		for _, a := range strings.Fields(cmd) {
			args = append(args, a)
		}
		err := c.Do(ctx, args...).Err()
		if err == nil || !strings.Contains(err.Error(), "embedded store") {
			t.Errorf("%s: %v", cmd, err)
		}
	}
	for _, lua := range []string{
		"return redis.call('EXPIRE', KEYS[1], 10)", "return redis.call('SET', KEYS[1], 'v', 'EX', 10)",
		"return redis.call('SPOP', KEYS[1])", "return redis.call('SRANDMEMBER', KEYS[1])", "return math.random()",
		"return redis.call('XADD', KEYS[1], '*', 'a', 'b')", "return redis.call('SELECT', 1)", "return redis.call('FLUSHALL')",
		"return redis.call('COPY', KEYS[1], 'b', 'REPLACE', 'DB', 1)",
	} {
		err := c.Eval(ctx, lua, []string{"k"}).Err()
		if err == nil || !strings.Contains(err.Error(), "embedded store") {
			t.Errorf("%s: %v", lua, err)
		}
	}
	if got := contents(t, s); got != "" {
		t.Errorf("left behind: %s", got)
	}
}

func TestGateLetsThrough(t *testing.T) {
	ctx := context.Background()
	for _, protocol := range []int{2, 3} {
		s := openStore(t, Options{Dir: t.TempDir()})
		o := clientOptions(s)
		o.Protocol = protocol
		c := redis.NewClient(o)
		defer func() { _ = c.Close() }()
		mustSend(t, c, "hello")
		pipe := c.TxPipeline()
		pipe.ZCard(ctx, sendKeys[1])
		pipe.EvalShaRO(ctx, sendScript.Hash(), sendKeys, "", "")
		if _, err := pipe.Exec(ctx); err == nil || !strings.Contains(err.Error(), "Write commands are not allowed") {
			t.Errorf("a script that writes, as a read-only one in MULTI: %v", err)
		}
		pipe = c.TxPipeline()
		card := pipe.ZCard(ctx, sendKeys[1])
		read := pipe.EvalRO(ctx, "return {redis.call('GET', KEYS[1]), redis.call('TIME')[1]}", sendKeys)
		clock := pipe.Time(ctx)
		if _, err := pipe.Exec(ctx); err != nil {
			t.Fatalf("MULTI of reads: %v", err)
		}
		got, _ := read.StringSlice()
		if card.Val() != 1 || len(got) != 2 || got[0] != "1" || got[1] != fmt.Sprint(clock.Val().Unix()) {
			t.Errorf("MULTI of reads: %d %v %v", card.Val(), got, clock.Val())
		}
		if err := c.EvalRO(ctx, "return redis.call('SRANDMEMBER', KEYS[1])", []string{"none"}).Err(); !errors.Is(err, redis.Nil) {
			t.Errorf("a random read in a read-only script: %v", err)
		}
		if err := c.ScriptFlush(ctx).Err(); err != nil {
			t.Error(err)
		}
		if err := c.EvalSha(ctx, sendScript.Hash(), sendKeys, "", "").Err(); !redis.HasErrorPrefix(err, "NOSCRIPT") {
			t.Errorf("after SCRIPT FLUSH: %v", err)
		}
		if err := c.Do(ctx, "WAITAOF", 1, 0, 0).Err(); err == nil || !strings.Contains(err.Error(), "unknown command") {
			t.Errorf("WAITAOF: %v", err)
		}
	}
}

// TestScriptInMultiAbortsIt: as in Redis, a command that is refused while queueing makes EXEC do nothing.
func TestScriptInMultiAbortsIt(t *testing.T) {
	ctx := context.Background()
	s := openStore(t, Options{Dir: t.TempDir()})
	c := client(t, s)
	mustSend(t, c, "hello")
	before := contents(t, s)
	pipe := c.TxPipeline()
	pipe.Get(ctx, sendKeys[0])
	pipe.EvalSha(ctx, sendScript.Hash(), sendKeys, "chan", "x")
	if _, err := pipe.Exec(ctx); !redis.HasErrorPrefix(err, "EXECABORT") {
		t.Errorf("EVALSHA in MULTI: %v", err)
	}
	pipe = c.TxPipeline()
	pipe.Incr(ctx, sendKeys[0])
	if _, err := pipe.Exec(ctx); err == nil {
		t.Error("INCR in MULTI was taken")
	}
	if got := contents(t, s); got != before {
		t.Errorf("changed to %s", got)
	}
	mustSend(t, c, "the connections are as good as before")
}

func TestScriptThatFailsHalfWayIsReplayedHalfWay(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	s := openStore(t, Options{Dir: dir, CompactStartBytes: 1 << 40})
	c := client(t, s)
	err := c.Eval(ctx, "redis.call('SET', KEYS[1], 'x') redis.call('INCR', KEYS[1]) redis.call('SET', KEYS[1], 'y')", []string{"k"}).Err()
	if err == nil || !strings.Contains(err.Error(), "not an integer") {
		t.Fatalf("Eval: %v", err)
	}
	mustSend(t, c, "after")
	want := contents(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, openStore(t, Options{Dir: dir})); got != want {
		t.Errorf("replayed %s, want %s", got, want)
	}
}

func TestLongPipelines(t *testing.T) {
	ctx := context.Background()
	s := openStore(t, Options{Dir: t.TempDir()})
	c := client(t, s)
	mustSend(t, c, strings.Repeat("x", 2000))
	pipe := c.Pipeline()
	for range 10_000 {
		pipe.ZRange(ctx, sendKeys[1], 0, -1)
	}
	got, err := pipe.Exec(ctx)
	if err != nil || len(got) != 10_000 {
		t.Fatalf("%d replies: %v", len(got), err)
	}
	pipe = c.Pipeline()
	for range 1000 {
		pipe.EvalSha(ctx, sendScript.Hash(), sendKeys, "chan", strings.Repeat("y", 3000))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		t.Fatal(err)
	}
	if got := c.Get(ctx, sendKeys[0]).Val(); got != "1001" {
		t.Errorf("last id %s", got)
	}
}

// TestSlowSubscriberHoldsNobodyUp: a subscriber that reads nothing delays no writer, and is cut off at the bound.
func TestSlowSubscriberHoldsNobodyUp(t *testing.T) {
	ctx := context.Background()
	const most = 4 << 20
	s := openStore(t, Options{repliesMax: most})
	c := client(t, s)
	slow, err := s.Dialer()(ctx, "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = slow.Close() }()
	if _, err := io.WriteString(slow, "*2\r\n$9\r\nSUBSCRIBE\r\n$20\r\nchat:{p00}:g:general\r\n"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1)
	if _, err := io.ReadFull(slow, b); err != nil { // the subscription is active
		t.Fatal(err)
	}
	fast := c.Subscribe(ctx, "chat:{p00}:g:general")
	defer func() { _ = fast.Close() }()
	if _, err := fast.Receive(ctx); err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("x", 64<<10)
	publish := redis.NewScript("return redis.call('PUBLISH', ARGV[1], ARGV[2])")
	for i := range most/len(text) + 2 {
		if err := publish.Run(ctx, c, nil, "chat:{p00}:g:general", text).Err(); err != nil {
			t.Fatal(err)
		}
		if m, err := fast.ReceiveMessage(ctx); err != nil || len(m.Payload) != len(text) {
			t.Fatalf("message %d: %v", i, err)
		}
	}
	if _, err := io.Copy(io.Discard, slow); !errors.Is(err, errOverflow) {
		t.Errorf("the slow subscriber reads: %v", err)
	}
}

func TestConnDeadlines(t *testing.T) {
	a, b := pair(10)
	if err := a.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 100)
	if _, err := a.Read(p); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Read: %v", err)
	}
	var timeout net.Error
	if _, err := a.Read(p); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("Read past the deadline: %v", err)
	}
	if _, err := b.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if n, err := a.Read(p); err != nil || string(p[:n]) != "hello" {
		t.Errorf("Read of what is there, past the deadline: %q %v", p[:n], err)
	}
	if err := a.SetDeadline(time.Now().Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := a.Write(make([]byte, requestBytesMax+1)); !errors.Is(err, os.ErrDeadlineExceeded) || n != requestBytesMax {
		t.Errorf("Write of more than fits: %d %v", n, err)
	}
	// Moving a deadline wakes a reader that is already waiting.
	if err := a.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := a.Read(p)
		done <- err
	}()
	if err := a.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Read, deadline moved: %v", err)
	}
	if _, err := b.Write([]byte("0123456789")); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(a); err != nil || string(got) != "0123456789" {
		t.Errorf("after the other end closed: %q %v", got, err)
	}
	if _, err := a.Write(p); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Write to a closed end: %v", err)
	}
}
