package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oschwald/maxminddb-golang/v2"
	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/internal/redistest"
)

var linesFlag = flag.Int("lines", 400_000, "how many lines TestCountsOnceUnderKills counts; `make soak` counts 10,000,000")

const kills = 10

// countries have networks of their own: 10.N.0.0/16 and 2001:db8:N::/48.
var countries = []string{"DE", "FR", "US", "JP", "BR", "NZ", "ZA", "IN"}

func testDatabase(t *testing.T) string {
	t.Helper()
	networks := make(map[netip.Prefix]string)
	for i, code := range countries {
		networks[netip.MustParsePrefix(fmt.Sprintf("10.%d.0.0/16", i))] = code
		networks[netip.MustParsePrefix(fmt.Sprintf("2001:db8:%x::/48", i))] = code
	}
	path := filepath.Join(t.TempDir(), "places.mmdb")
	if err := os.WriteFile(path, mmdb(networks), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// generate writes lines in parts, and beside them the day and place of each line, as they were chosen.
func generate(t *testing.T, lines, perPart int) (parts []string, expected string) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	zone := berlin(t)
	dir := t.TempDir()
	expected = filepath.Join(dir, "expected")
	var want bytes.Buffer
	var line []byte
	for len(parts)*perPart < lines {
		var part bytes.Buffer
		for range min(perPart, lines-len(parts)*perPart) {
			// Around the end of summer time, of which a day has 25 hours, and with seconds close to midnight.
			at := time.Date(2026, 10, 20+r.IntN(10), r.IntN(24), r.IntN(60), r.IntN(60), 0, zone)
			if r.IntN(4) == 0 {
				at = time.Date(2026, 10, 20+r.IntN(10), 23*r.IntN(2), 59, 59, 0, zone)
			}
			n, country := r.IntN(len(countries)+1), unknown
			var ip string
			switch {
			case n == len(countries):
				ip = []string{"192.0.2.1", "::1", "no address", ""}[r.IntN(4)]
			case r.IntN(2) == 0:
				country, ip = countries[n], netip.AddrFrom4([4]byte{10, byte(n), byte(r.IntN(256)), byte(r.IntN(256))}).String()
			default:
				country, ip = countries[n], netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 5: byte(n), 14: byte(r.IntN(256)), 15: byte(r.IntN(256))}).String()
			}
			// Not by fmt, which takes longer under the race detector than the counting.
			line = append(at.UTC().AppendFormat(append(line[:0], `{"time":"`...), time.RFC3339Nano), `","ip":"`+ip+`","action":"login"}`+"\n"...)
			part.Write(line)
			line = append(at.AppendFormat(line[:0], time.DateOnly), " "+country+"\n"...)
			want.Write(line)
		}
		path := filepath.Join(dir, fmt.Sprintf("part-%04d", len(parts)))
		if err := os.WriteFile(path, part.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, path)
	}
	if err := os.WriteFile(expected, want.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return parts, expected
}

func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// independent counts with the tools of the system.
func independent(t *testing.T, expected string) map[string]map[string]int64 {
	t.Helper()
	out, err := exec.Command("sh", "-c", "LC_ALL=C sort "+expected+" | uniq -c").Output()
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[string]map[string]int64)
	for row := range strings.Lines(string(out)) {
		var n int64
		var day, country string
		if _, err := fmt.Sscan(row, &n, &day, &country); err != nil {
			t.Fatal(err)
		}
		if counts[day] == nil {
			counts[day] = make(map[string]int64)
		}
		counts[day][country] = n
	}
	return counts
}

func testCounter(t *testing.T, url string) *counter {
	t.Helper()
	db, err := maxminddb.Open(testDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	opts, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(opts)
	t.Cleanup(func() { _ = client.Close() })
	return &counter{days: newDays(client), zone: berlin(t), country: countriesOf(db), now: time.Now, flushLines: flushLines}
}

// TestMain is also the processor that TestCountsOnceUnderKills kills.
func TestMain(m *testing.M) {
	flag.Parse()
	if os.Getenv("DAILY_PARTS") == "" {
		os.Exit(m.Run())
	}
	if err := processParts(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// processParts counts the parts after the one that is acked, as client.Process hands them over: a part comes again until it is
// acked, which is after it is counted. It kills itself where DAILY_KILL says: behind that many writes, of counts or of acks.
func processParts() error {
	db, err := maxminddb.Open(os.Getenv("DAILY_MMDB"))
	if err != nil {
		return err
	}
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		return err
	}
	opts, err := redis.ParseURL(os.Getenv("DAILY_REDIS"))
	if err != nil {
		return err
	}
	client := redis.NewClient(opts)
	killer := &killer{}
	if _, err := fmt.Sscan(os.Getenv("DAILY_KILL"), &killer.left); err != nil {
		return err
	}
	client.AddHook(killer)
	c := &counter{days: newDays(client), zone: zone, country: countriesOf(db), now: time.Now}
	if _, err := fmt.Sscan(os.Getenv("DAILY_FLUSH"), &c.flushLines); err != nil {
		return err
	}
	ctx := context.Background()
	acked, err := client.Get(ctx, "acked").Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	for i, path := range strings.Split(os.Getenv("DAILY_PARTS"), ":") {
		id := int64(i + 1)
		if id <= acked {
			continue
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		if _, err := c.count(ctx, part{"logs e", id}, file); err != nil {
			return err
		}
		if err := errors.Join(file.Close(), client.Set(ctx, "acked", id, 0).Err()); err != nil {
			return err
		}
	}
	return nil
}

// killer ends the process at once, behind so many writes, or before the next one reaches Redis.
type killer struct{ left int }

func (k *killer) DialHook(next redis.DialHook) redis.DialHook { return next }
func (k *killer) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
func (k *killer) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if name := cmd.Name(); err == nil && (name == "evalsha" || name == "eval" || name == "set") {
			if k.left--; k.left == 0 {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {} // the signal is on its way
			}
		}
		return err
	}
}

// TestCountsOnceUnderKills kills the processor ten times: between the days of a flush, between flushes, and before an ack.
func TestCountsOnceUnderKills(t *testing.T) {
	t.Parallel()
	flush := min(flushLines, *linesFlag/20)
	perPart := flush * 5 / 2 // not a multiple of what is flushed
	writes := *linesFlag / flush * 10
	server := redistest.Start(t)
	parts, expected := generate(t, *linesFlag, perPart)
	database := testDatabase(t)
	r := rand.New(rand.NewPCG(3, 4))
	for run := 0; ; run++ {
		kill := 0 // never
		if run < kills {
			kill = 1 + r.IntN(writes/15)
		}
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), "DAILY_PARTS="+strings.Join(parts, ":"), "DAILY_MMDB="+database, "DAILY_REDIS="+server.URL(), fmt.Sprint("DAILY_KILL=", kill), fmt.Sprint("DAILY_FLUSH=", flush))
		var said bytes.Buffer
		cmd.Stderr = &said
		err := cmd.Run()
		if run == kills {
			if err != nil {
				t.Fatalf("%v: %s", err, said.String())
			}
			break
		}
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
			t.Fatalf("run %d ended by itself: %v: %s", run, err, said.String())
		}
	}
	got, err := testCounter(t, server.URL()).days.all(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(independent(t, expected), got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// TestFlushes counts the commands and what is in memory, and counts parts twice. It measures, so it runs by itself.
func TestFlushes(t *testing.T) {
	server := redistest.Start(t)
	c := testCounter(t, server.URL())
	const lines, days = 50_000, 10
	c.flushLines = 20_000
	parts, expected := generate(t, lines, lines)
	content, err := os.ReadFile(parts[0])
	if err != nil {
		t.Fatal(err)
	}
	commands := &counting{}
	c.days.redis.AddHook(commands)
	var heap []uint64
	for id := int64(1); id <= 3; id++ {
		commands.evals = 0
		r, err := c.count(t.Context(), part{"logs e", 1}, bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		want := result{lines: lines, counted: lines}
		if id > 1 {
			want = result{lines: lines, repeated: lines}
		}
		if r.result != want {
			t.Errorf("time %d: %s, want %s", id, r.result, want)
		}
		if flushes := 3; id == 1 && (commands.evals == 0 || commands.evals > flushes*days+1) || id > 1 && commands.evals > 0 { // one more to load the script
			t.Errorf("time %d: %d scripts for %d flushes of %d days", id, commands.evals, flushes, days)
		}
		if most := days * (len(countries) + 1); r.peak > most || len(r.tallies) > days {
			t.Errorf("up to %d entries of %d days in memory, want %d of %d", r.peak, len(r.tallies), most, days)
		}
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		heap = append(heap, stats.HeapAlloc)
	}
	if grown := int64(heap[2]) - int64(heap[0]); grown > 4<<20 {
		t.Errorf("memory grew by %d bytes", grown)
	}
	got, err := c.days.all(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(independent(t, expected), got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// counting counts the scripts.
type counting struct {
	killer
	evals int
}

func (c *counting) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if strings.HasPrefix(cmd.Name(), "eval") {
			c.evals++
		}
		return next(ctx, cmd)
	}
}

// TestTimeFlushes: what is counted is in Redis after ten seconds, while the part goes on.
func TestTimeFlushes(t *testing.T) {
	t.Parallel()
	c := testCounter(t, redistest.Start(t).URL())
	now := time.Unix(0, 0)
	c.now = func() time.Time { return now }
	const first, second = `{"time":"2026-01-01T12:00:00Z","ip":"10.0.0.1"}` + "\n", `{"time":"2026-01-01T12:00:00Z","ip":"10.1.0.1"}` + "\n"
	later := readerFunc(func([]byte) (int, error) {
		now = now.Add(flushEvery)
		return 0, io.EOF
	})
	lines := io.MultiReader(strings.NewReader(first), later, strings.NewReader(second), iotest.ErrReader(iotest.ErrTimeout))
	if _, err := c.count(t.Context(), part{"g e", 7}, lines); !errors.Is(err, iotest.ErrTimeout) {
		t.Fatalf("got %v, want the error of the reader", err)
	}
	got, err := c.days.all(t.Context())
	if want := map[string]map[string]int64{"2026-01-01": {"DE": 1, "FR": 1}}; err != nil || !cmp.Equal(want, got) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestFences: parts of several logs, positions in between, and two who count the same.
func TestFences(t *testing.T) {
	t.Parallel()
	c := testCounter(t, redistest.Start(t).URL())
	text := func(n int) *strings.Reader {
		return strings.NewReader(strings.Repeat(`{"time":"2026-01-01T23:30:00Z","ip":"10.0.0.1","action":"x"}`+"\n", n))
	}
	count := func(p part, n int, want result) {
		t.Helper()
		r, err := c.count(t.Context(), p, text(n))
		if err != nil || r.result != want {
			t.Errorf("part %v: %s, %v; want %s", p, r.result, err, want)
		}
	}
	count(part{"g e", 5}, 10, result{lines: 10, counted: 10})
	count(part{"g e", 5}, 10, result{lines: 10, repeated: 10})
	count(part{"g e", 5}, 13, result{lines: 13, counted: 3, repeated: 10}) // an attempt that broke off counted the first ten
	count(part{"g e", 6}, 1, result{lines: 1, counted: 1})
	count(part{"g e", 5}, 13, result{lines: 13, repeated: 13})
	count(part{"g other", 5}, 2, result{lines: 2, counted: 2}) // another life of the group
	count(part{"h e", 1}, 4, result{lines: 4, counted: 4})
	if err := c.days.add(t.Context(), "h e", "2026-01-02", position{}, position{1, 4}, map[string]int64{"DE": 4}); !errors.Is(err, errFenced) {
		t.Errorf("who is behind the fence gets %v", err)
	}
	got, err := c.days.all(t.Context())
	if want := map[string]map[string]int64{"2026-01-02": {"DE": 20}}; err != nil || !cmp.Equal(want, got) { // Berlin is an hour ahead
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	r, err := c.count(t.Context(), part{"i e", 1}, strings.NewReader("no JSON\n{}\n\n"+strings.Repeat("x", 3*lineBytesMax)+"\n"+`{"time":"2026-01-05T00:00:00Z"}`))
	if want := (result{lines: 5, counted: 1, skipped: 4}); err != nil || r.result != want {
		t.Errorf("damaged lines: %s, %v; want %s", r.result, err, want)
	}
	var table bytes.Buffer
	all, err := c.days.all(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := writeTable(&table, all); err != nil {
		t.Fatal(err)
	}
	if want := "         day  ??  DE\n  2026-01-02   0  20\n  2026-01-05   1   0\n"; table.String() != want {
		t.Errorf("got\n%s\nwant\n%s", table.String(), want)
	}
}

func TestCountries(t *testing.T) {
	c := testCounter(t, "redis://127.0.0.1:1")
	for address, want := range map[string]string{"10.0.1.2": "DE", "10.7.255.255": "IN", "::ffff:10.2.0.1": "US", "2001:db8:3::1": "JP", "10.8.0.0": "??", "192.0.2.1": "??", "::1": "??"} {
		if got := c.country(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s is in %s, want %s", address, got, want)
		}
	}
}
