package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"github.com/chatd/chatd/internal/redistest"
)

// passOn lets a script run one command.
const passOn = "return redis.pcall(unpack(ARGV))"

// TestSortedSetsAnswerAsRedisDoes runs random commands here and in a real redis-server: the answers are equal, and so is
// what both hold in the end. A restart from the journal, and one from a snapshot, change nothing.
func TestSortedSetsAnswerAsRedisDoes(t *testing.T) {
	ctx := context.Background()
	server := redistest.Start(t)
	real := redis.NewClient(&redis.Options{Addr: server.Addr, Protocol: 2, DisableIdentity: true})
	t.Cleanup(func() { _ = real.Close() })
	rapid.Check(t, func(t *rapid.T) {
		if err := real.FlushAll(ctx).Err(); err != nil {
			t.Fatal(err)
		}
		dir := freshFolder(t)
		s, err := Open(ctx, Options{Dir: dir, Log: quiet(), CompactStartBytes: 1 << 40})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		c := redis.NewClient(clientOptions(s))
		defer func() { _ = c.Close() }()
		calls := rapid.SliceOfN(rapid.Custom(anyCall), 40, 120).Draw(t, "calls")
		compareCalls(ctx, t, c, real, calls)
		compareState(ctx, t, c, real)
		for _, compact := range []int64{1, 1 << 40} { // by replay, writing a snapshot; then from that
			want := contentsOf(s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if s, err = Open(ctx, Options{Dir: dir, Log: quiet(), CompactStartBytes: compact}); err != nil {
				t.Fatal(err)
			}
			if got := contentsOf(s); got != want {
				t.Fatalf("after a restart:\n%s\nwant:\n%s", got, want)
			}
		}
	})
}

// aCall is one command, and how it is sent.
type aCall struct {
	how  string // script, plain or multi
	args []string
}

func (c aCall) queue(ctx context.Context, pipe redis.Pipeliner) *redis.Cmd {
	args := []any{}
	if c.how == "script" {
		args = append(args, "EVAL", passOn, "0")
	}
	for _, a := range c.args {
		args = append(args, a)
	}
	return pipe.Do(ctx, args...)
}

// compareCalls sends each run of calls of the same kind in one pipeline.
func compareCalls(ctx context.Context, t *rapid.T, ours, real *redis.Client, calls []aCall) {
	for len(calls) > 0 {
		n := 1
		for n < len(calls) && calls[n].how == calls[0].how {
			n++
		}
		answers := func(c *redis.Client) []string {
			pipe := c.Pipeline()
			if calls[0].how == "multi" {
				pipe = c.TxPipeline()
			}
			var cmds []*redis.Cmd
			for _, call := range calls[:n] {
				cmds = append(cmds, call.queue(ctx, pipe))
			}
			_, _ = pipe.Exec(ctx) // each answer is looked at
			var texts []string
			for _, cmd := range cmds {
				texts = append(texts, answerText(cmd))
			}
			return texts
		}
		got, want := answers(ours), answers(real)
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("%s %q answers\n%s, Redis\n%s", calls[i].how, calls[i].args, got[i], want[i])
			}
		}
		calls = calls[n:]
	}
}

func answerText(cmd *redis.Cmd) string {
	v, err := cmd.Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		text, _, _ := strings.Cut(err.Error(), " script:")
		return "error " + text
	}
	return fmt.Sprintf("%q", v)
}

func compareState(ctx context.Context, t *rapid.T, ours, real *redis.Client) {
	var calls []aCall
	for _, how := range []string{"script", "plain", "multi"} {
		for _, key := range keysOfTest {
			for _, cmd := range []string{"TYPE %", "EXISTS %", "ZRANGE % 0 -1 WITHSCORES", "ZREVRANGE % 0 -1", "ZCARD %"} {
				calls = append(calls, aCall{how, strings.Fields(strings.ReplaceAll(cmd, "%", key))})
			}
		}
		calls = append(calls, aCall{how, []string{"DBSIZE"}})
	}
	compareCalls(ctx, t, ours, real, calls)
	zsets := func(c *redis.Client) []string {
		keys, _, err := c.ScanType(ctx, 0, "*", 100, "zset").Result()
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(keys)
		return keys
	}
	if got, want := zsets(ours), zsets(real); !slices.Equal(got, want) {
		t.Fatalf("SCAN TYPE zset finds %q, Redis %q", got, want)
	}
}

var (
	keysOfTest = []string{"a", "b", "c", "lex"}
	anyScore   = rapid.SampledFrom([]string{"0", "1", "2", "2", "3", "-1", "-0.5", "0.25", "7.5", "inf", "-inf", "+inf", "1000000", "100000000", "1795500000000", "9007199254740991"})
	anyMember  = rapid.OneOf(
		rapid.SampledFrom([]string{"", "a", "b", "aa", "ab", "B", "\x00", "\xff", "\xff\xff", "é", "z"}),
		rapid.Map(rapid.IntRange(0, 40), func(i int) string { return fmt.Sprint("m", i) }))
	anyBound = rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"", "", "("}).Draw(t, "open") + anyScore.Draw(t, "bound")
	})
	anyLex = rapid.Custom(func(t *rapid.T) string {
		kind := rapid.SampledFrom([]string{"[", "[", "(", "-", "+"}).Draw(t, "kind")
		if kind == "-" || kind == "+" {
			return kind
		}
		return kind + anyMember.Draw(t, "bound")
	})
	anyRank  = rapid.Map(rapid.IntRange(-6, 45), func(i int) string { return fmt.Sprint(i) })
	anyLimit = rapid.Map(rapid.IntRange(-2, 12), func(i int) string { return fmt.Sprint(i) })
	wrong    = rapid.SampledFrom([]string{"nan", "x", "(", "1 ", "[a"})
)

// anyCall draws a command; one in about forty has a mistake.
func anyCall(t *rapid.T) aCall {
	key := rapid.SampledFrom(keysOfTest[:3]).Draw(t, "key")
	var args []string
	how := "script"
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0, 1, 2:
		args = anyAddition(t, key)
	case 3:
		args = anyRemoval(t, key)
	case 4:
		args = anyMove(t, key)
	default:
		how = rapid.SampledFrom([]string{"script", "plain", "multi"}).Draw(t, "how")
		args = anyRead(t, key)
	}
	if args[0][0] == 'Z' && rapid.IntRange(0, 40).Draw(t, "mistake") == 0 {
		// Not the key: what Redis answers to ranges by bytes, in a set whose scores differ, is unspecified.
		args[rapid.IntRange(2, len(args)-1).Draw(t, "at")] = wrong.Draw(t, "wrong")
	}
	return aCall{how, args}
}

func anyAddition(t *rapid.T, key string) []string {
	switch rapid.IntRange(0, 7).Draw(t, "addition") {
	case 0:
		return []string{"ZINCRBY", key, anyScore.Draw(t, "by"), anyMember.Draw(t, "member")}
	case 1:
		return []string{"ZADD", "lex", "0", anyMember.Draw(t, "member"), "0", anyMember.Draw(t, "member")}
	case 2: // many at once: more than the small form of either server holds
		args := []string{"ZADD", key}
		from := rapid.IntRange(0, 300).Draw(t, "from")
		for i := range rapid.IntRange(20, 200).Draw(t, "many") {
			args = append(args, fmt.Sprint((i*7)%40), fmt.Sprint("many", from+i))
		}
		return args
	}
	args := append([]string{"ZADD", key}, rapid.SliceOfN(rapid.SampledFrom([]string{"NX", "XX", "GT", "LT", "CH", "ch", "INCR"}), 0, 2).Draw(t, "options")...)
	for range rapid.IntRange(1, 4).Draw(t, "pairs") {
		args = append(args, anyScore.Draw(t, "score"), anyMember.Draw(t, "member"))
	}
	return args
}

func anyRemoval(t *rapid.T, key string) []string {
	switch rapid.IntRange(0, 4).Draw(t, "removal") {
	case 0:
		return []string{"ZREMRANGEBYSCORE", key, anyBound.Draw(t, "low"), anyBound.Draw(t, "high")}
	case 1:
		return []string{"ZREMRANGEBYRANK", key, anyRank.Draw(t, "low"), anyRank.Draw(t, "high")}
	case 2:
		return []string{"ZREMRANGEBYLEX", "lex", anyLex.Draw(t, "low"), anyLex.Draw(t, "high")}
	}
	return append([]string{"ZREM", key}, rapid.SliceOfN(anyMember, 1, 5).Draw(t, "members")...)
}

// anyMove draws a command that removes, replaces or moves keys of any type.
func anyMove(t *rapid.T, key string) []string {
	to := rapid.SampledFrom(keysOfTest[:3]).Draw(t, "to")
	text := rapid.SampledFrom([]string{
		"DEL %", "UNLINK % ^", "RENAME % ^", "RENAMENX % ^", "SET % x", "SET % x NX", "SET % x XX",
		"SET % x GET", "GETSET % x", "GETDEL %", "MSET % 1 ^ 2", "MSETNX % 1 ^ 2", "SADD % m", "HSET % f v", "RPUSH % v", "INCR %",
		"SREM % m", "LPOP %", "DEL none",
	}).Draw(t, "move")
	args := strings.Fields(strings.ReplaceAll(text, "%", key))
	for i, a := range args {
		if a == "^" {
			args[i] = to
		}
	}
	return args
}

func anyRead(t *rapid.T, key string) []string {
	withScores := rapid.SliceOfN(rapid.SampledFrom([]string{"WITHSCORES", "withscores"}), 0, 1)
	limit := func() []string {
		if rapid.Bool().Draw(t, "limited") {
			return []string{"LIMIT", anyLimit.Draw(t, "skip"), anyLimit.Draw(t, "most")}
		}
		return nil
	}
	switch rapid.IntRange(0, 9).Draw(t, "read") {
	case 0:
		cmd := rapid.SampledFrom([]string{"ZSCORE", "ZRANK", "ZREVRANK"}).Draw(t, "of")
		return []string{cmd, key, anyMember.Draw(t, "member")}
	case 1:
		return append([]string{"ZMSCORE", key}, rapid.SliceOfN(anyMember, 1, 4).Draw(t, "members")...)
	case 2:
		return []string{"ZCOUNT", key, anyBound.Draw(t, "low"), anyBound.Draw(t, "high")}
	case 3:
		return []string{"ZLEXCOUNT", "lex", anyLex.Draw(t, "low"), anyLex.Draw(t, "high")}
	case 4:
		cmd := rapid.SampledFrom([]string{"ZRANGEBYLEX", "ZREVRANGEBYLEX"}).Draw(t, "lex")
		return append([]string{cmd, "lex", anyLex.Draw(t, "low"), anyLex.Draw(t, "high")}, limit()...)
	case 5:
		cmd := rapid.SampledFrom([]string{"ZRANGEBYSCORE", "ZREVRANGEBYSCORE"}).Draw(t, "score")
		args := append([]string{cmd, key, anyBound.Draw(t, "low"), anyBound.Draw(t, "high")}, withScores.Draw(t, "scores")...)
		return append(args, limit()...)
	case 6:
		cmd := rapid.SampledFrom([]string{"ZRANGE", "ZREVRANGE"}).Draw(t, "rank")
		return append([]string{cmd, key, anyRank.Draw(t, "low"), anyRank.Draw(t, "high")}, withScores.Draw(t, "scores")...)
	case 7:
		args := append([]string{"ZRANGE", "lex", anyLex.Draw(t, "low"), anyLex.Draw(t, "high"), "BYLEX"}, limit()...)
		return append(args, rapid.SliceOfN(rapid.Just("REV"), 0, 1).Draw(t, "rev")...)
	case 8:
		args := append([]string{"ZRANGE", key, anyBound.Draw(t, "low"), anyBound.Draw(t, "high"), "BYSCORE"}, limit()...)
		args = append(args, withScores.Draw(t, "scores")...)
		return append(args, rapid.SliceOfN(rapid.Just("rev"), 0, 1).Draw(t, "rev")...)
	}
	args := []string{"ZRANGE", key, anyRank.Draw(t, "low"), anyRank.Draw(t, "high")}
	return append(args, rapid.SliceOfN(rapid.SampledFrom([]string{"REV", "BYSCORE", "BYLEX", "WITHSCORES", "LIMIT", "0", "1", "-1"}), 0, 4).Draw(t, "options")...)
}

// freshFolder is a folder for one check.
func freshFolder(t *rapid.T) string {
	dir, err := os.MkdirTemp("", "embedded")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
