package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// everyType fills a key of each type, with content that is easily lost: empty strings, zero bytes, scores that need all
// bits.
const everyType = `
redis.call('SET', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[2], 'a', '', '', 'b', ARGV[1], 'c')
redis.call('RPUSH', KEYS[3], 'x', '', 'x', ARGV[1])
redis.call('ZADD', KEYS[4], '0.1', 'a', '1e300', 'b', '-inf', 'c', '+inf', 'd', '9007199254740993', 'e', '5e-324', ARGV[1])
redis.call('SADD', KEYS[5], 'b', 'a', '', ARGV[1])
redis.call('ZADD', KEYS[6], '0.30000000000000004', 'a')
return redis.call('TIME')`

func TestEveryTypeSurvivesARestart(t *testing.T) {
	for name, compactAt := range map[string]int64{"by replay": 1 << 40, "by snapshot": 1} {
		t.Run(name, func(t *testing.T) {
			ctx, dir := context.Background(), t.TempDir()
			s := openStore(t, Options{Dir: dir})
			c := client(t, s)
			keys := []string{"s", "h", "l", "z", "set", "{x}z2"}
			if err := c.Eval(ctx, everyType, keys, "\x00\xff\r\n").Err(); err != nil {
				t.Fatal(err)
			}
			big := redis.NewScript(`for i = 1, 5500 do
				redis.call('ZADD', KEYS[1], i, 'member ' .. i); redis.call('RPUSH', KEYS[2], 'item ' .. i .. string.rep('y', 50))
				redis.call('HSET', KEYS[3], 'field ' .. i, i); redis.call('SADD', KEYS[4], i) end`)
			if err := big.Run(ctx, c, []string{"bigz", "bigl", "bigh", "bigs"}).Err(); err != nil && !errors.Is(err, redis.Nil) {
				t.Fatal(err)
			}
			if err := c.Eval(ctx, "return redis.call('SET', KEYS[1], string.rep('x', 1000000))", []string{"bigstring"}).Err(); err != nil {
				t.Fatal(err)
			}
			want := contents(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				s = openStore(t, Options{Dir: dir, CompactStartBytes: compactAt})
				if got := contents(t, s); got != want {
					t.Fatalf("after a restart:\n%.2000s\nwant\n%.2000s", got, want)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if got := s.Info().SnapshotBytes > 0; got != (compactAt == 1) {
				t.Errorf("loaded from a snapshot: %v", got)
			}
		})
	}
}

func TestFolderIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := openStore(t, Options{Dir: dir})
	mustSend(t, client(t, s), "hello")
	if err := s.Compact(); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := st.Mode().Perm(); got != 0o700 {
		t.Errorf("folder has mode %o", got)
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		i, _ := e.Info()
		if got := i.Mode().Perm(); got != 0o600 {
			t.Errorf("%s has mode %o", e.Name(), got)
		}
	}
	if len(entries) != 3 { // lock, snapshot, journal
		t.Errorf("folder holds %v", entries)
	}
}

func TestSecondOpenIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, Options{Dir: dir})
	if _, err := Open(context.Background(), Options{Dir: dir, Log: quiet()}); !errors.Is(err, ErrLocked) {
		t.Fatalf("second open: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	openStore(t, Options{Dir: dir})
}

func TestTimeIsRecordedAndNeverRunsBackward(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	now := time.UnixMicro(1_700_000_000_123_456)
	o := Options{Dir: dir, Now: func() time.Time { return now }, CompactStartBytes: 1 << 40}
	s := openStore(t, o)
	c := client(t, s)
	script := redis.NewScript(`local t = redis.call('TIME'); redis.call('RPUSH', KEYS[1], t[1] .. '.' .. t[2]); return t[2]`)
	run := func(c *redis.Client) {
		t.Helper()
		if err := script.Run(ctx, c, []string{"times"}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	run(c)
	now = now.Add(-time.Hour)
	run(c)
	if got, err := c.Time(ctx).Result(); err != nil || got.UnixMicro() != 1_700_000_000_123_456 {
		t.Errorf("TIME = %v %v, while the host's clock is an hour back", got, err)
	}
	now = now.Add(2 * time.Hour)
	run(c)
	want := contents(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(want, `["1700000000.123456" "1700000000.123456" "1700003600.123456"]`) {
		t.Errorf("times: %s", want)
	}
	now = now.Add(-24 * time.Hour)
	s = openStore(t, o)
	if got := contents(t, s); got != want {
		t.Errorf("after replay %s, want %s", got, want)
	}
	run(client(t, s))
	if got := contents(t, s); !strings.Contains(got, `"1700003600.123456" "1700003600.123456"]`) {
		t.Errorf("after a restart with the clock a day back: %s", got)
	}
}

// TestClockMovedBack: if the host's clock is a day behind the journal, time goes on for scripts, never faster than the
// host's, and matches it again once that has caught up. It is logged once.
func TestClockMovedBack(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	now := time.UnixMicro(1_700_000_000_000_000)
	var log bytes.Buffer
	o := Options{Dir: dir, Now: func() time.Time { return now }, Log: slog.New(slog.NewTextHandler(&log, nil))}
	s := openStore(t, o)
	mustSend(t, client(t, s), "one")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	now = now.Add(-24 * time.Hour)
	s = openStore(t, o)
	c := client(t, s)
	at := func() time.Time {
		t.Helper()
		got, err := c.Time(ctx).Result()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	began := at()
	if began.UnixMicro() != 1_700_000_000_000_000 {
		t.Errorf("time begins at %v, want where the journal ends", began)
	}
	for i := range 10 {
		now = now.Add(10 * time.Second)
		passed := at().Sub(began)
		if host := time.Duration(i+1) * 10 * time.Second; passed > host || passed < host*9/10 {
			t.Errorf("%v passed for scripts while %v did for the host", passed, host)
		}
	}
	now = now.Add(48 * time.Hour)
	if got := at(); !got.Equal(now) {
		t.Errorf("got %v once the host's clock has caught up, want its %v", got, now)
	}
	if n := strings.Count(log.String(), "set back"); n != 1 {
		t.Errorf("it is logged %d times, want once: %s", n, log.String())
	}
}

func TestScriptsThatChangeNothingCostNothing(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	s := openStore(t, Options{Dir: dir})
	c := client(t, s)
	mustSend(t, c, "hello")
	size := func() int64 {
		st, err := os.Stat(filepath.Join(dir, journalName(1)))
		if err != nil {
			t.Fatal(err)
		}
		return st.Size()
	}
	if err := s.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	before := size()
	script := redis.NewScript(`if redis.call('GET', KEYS[1]) == '1' then return {'NOTHING', redis.call('TIME')[1]} end
		return redis.call('INCR', KEYS[1])`)
	for range 10 {
		if err := script.Run(ctx, c, sendKeys[:1]).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if got := size(); got != before {
		t.Errorf("the journal grew from %d to %d", before, got)
	}
}

func TestReplayOrderIsTheOrderOfConcurrentWriters(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	s := openStore(t, Options{Dir: dir, CompactStartBytes: 1 << 40})
	c := client(t, s)
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for i := range 50 {
				if _, err := send(ctx, c, fmt.Sprintf("%d/%d", w, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	want := contents(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, Options{Dir: dir})
	if got := contents(t, s); got != want {
		t.Error("the replay differs from what was written")
	}
	if got := s.Info().Calls; got != 800 {
		t.Errorf("replayed %d calls", got)
	}
}

func TestCompactionUnderLoadLosesNothing(t *testing.T) {
	const compactions = 3
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dir := t.TempDir()
	s := openStore(t, Options{Dir: dir, CompactCalls: 40})
	c := client(t, s)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			// Calls and fsyncs are not in step: compactions show when there was enough load.
			for generation(s) <= compactions {
				if _, err := send(ctx, c, strings.Repeat("x", 200)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	want := contents(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, Options{Dir: dir})
	if got := contents(t, s); got != want {
		t.Error("the folder differs from what was written")
	}
}

func TestSync(t *testing.T) {
	ctx := context.Background()
	if err := openStore(t, Options{}).Sync(ctx); !errors.Is(err, ErrMemory) {
		t.Errorf("in memory: %v", err)
	}
	var synced syncCounter
	s := openStore(t, Options{Dir: t.TempDir(), SyncEvery: time.Hour, open: synced.open})
	c := client(t, s)
	if err := s.Sync(ctx); err != nil || synced.n.Load() != 1 { // one by Open
		t.Errorf("with nothing to sync: %v, %d fsyncs", err, synced.n.Load())
	}
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for range 10 {
				if _, err := send(ctx, c, "hello"); err != nil {
					t.Error(err)
				}
				if err := s.Sync(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := synced.n.Load(); got > 200 {
		t.Errorf("320 waiters caused %d fsyncs", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Sync(ctx); err != nil {
		t.Errorf("after Close, with everything synced: %v", err)
	}
	if _, err := s.Dialer()(ctx, "", ""); !errors.Is(err, ErrClosed) {
		t.Errorf("dial after Close: %v", err)
	}
}

func TestSyncGivesUpWithItsContext(t *testing.T) {
	release := make(chan struct{})
	s := openStore(t, Options{Dir: t.TempDir(), SyncEvery: time.Hour, open: func(path string) (file, error) {
		f, err := openFile(path)
		return &slowFile{file: f, release: release}, err
	}})
	mustSend(t, client(t, s), "hello")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Sync(ctx) }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Sync: %v", err)
	}
	close(release)
}
