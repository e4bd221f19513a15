package queue

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// TestPlainTasksPassNoCodeOfOptions: a script creates its functions again in each call, so those of options are created behind
// the one test that finds some: after it, or indented, in its block.
func TestPlainTasksPassNoCodeOfOptions(t *testing.T) {
	t.Parallel()
	ofOptions := regexp.MustCompile(`(?m)^local function (?:limit|rate|unique|task_batch|task_slot|option|join|rush|admit)\w*`)
	for _, hot := range []struct {
		script *queueScript
		test   string // what follows is not for plain tasks; empty: all is
	}{
		{enqueueScript, "if not optioned then return "},
		{stepScript, ""},
		{settleScript, "if more_at > #ARGV then return "},
	} {
		text := hot.script.Text()
		plain, _, found := strings.Cut(text, hot.test)
		if hot.test == "" {
			plain = text
		} else if !found {
			t.Fatalf("%s has no line %q", hot.script.Name, hot.test)
		}
		if one := ofOptions.FindString(plain); one != "" {
			t.Errorf("%s: a plain task pays for %q", hot.script.Name, one)
		}
		if !regexp.MustCompile(`local function limit_`).MatchString(text) {
			t.Errorf("%s: no function of limits is found: does this test still look for the right names?", hot.script.Name)
		}
	}
}

// TestPlainTasksCostTheseCommands from the enqueue to the end, whatever options others have.
func TestPlainTasksCostTheseCommands(t *testing.T) {
	t.Parallel()
	c := newClient(t, options(connect(t, startRedis(t)), 1))
	called := func(do func()) []string {
		if err := c.rdb.ConfigResetStat(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		do()
		stats, err := c.rdb.Info(t.Context(), "commandstats").Result()
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, found := range regexp.MustCompile(`(?m)^cmdstat_(\w+):calls`).FindAllStringSubmatch(stats, -1) {
			names[found[1]] = true
		}
		for _, ours := range []string{"evalsha", "config|resetstat", "config", "info", "publish"} {
			delete(names, ours)
		}
		return slices.Sorted(maps.Keys(names))
	}
	enqueue(t, c, Task{Kind: "k"}) // loads the scripts
	settle(t, c, end(claimOne(t, c, 0, testTerms), complete, 0, ""))
	var run *running
	for _, moved := range []struct {
		what string
		do   func()
		want []string
	}{
		{"enqueue", func() { enqueue(t, c, Task{Kind: "k"}) }, []string{"hincrby", "hmget", "hset", "rpush", "time"}},
		{"claim", func() { run = step(t, c, 0, 1, 0, testTerms).runs[0] }, []string{"exists", "hmget", "llen", "lpop", "time", "zadd"}},
		{"complete", func() { settle(t, c, end(run, complete, 0, "")) }, []string{"exists", "hdel", "hincrby", "zrem"}},
	} {
		if got := called(moved.do); !slices.Equal(got, moved.want) {
			t.Errorf("%s: Redis ran %q, want %q", moved.what, got, moved.want)
		}
	}
}

// witness is a client whose scripts note in a HASH which of their functions of options run.
type witness struct{ texts map[string]string } // by the hash of the script

const seen = "seen"

var optionFunction = regexp.MustCompile(`local function ((?:limit|rate|task_batch|task_slot|unique_(?:span|holds|keep|trim)|` +
	`join|rush|admit|slot|keep|then)\w*|task_unhold)\([^)]*\)`)

func (w witness) replace(cmd redis.Cmder) {
	if args := cmd.Args(); args[0] == "evalsha" {
		if sha, ok := w.texts[*args[1].(*string)]; ok {
			args[1] = sha
		}
	}
}

func (w witness) DialHook(next redis.DialHook) redis.DialHook { return next }

func (w witness) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		w.replace(cmd)
		return next(ctx, cmd)
	}
}

func (w witness) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		for _, cmd := range cmds {
			w.replace(cmd)
		}
		return next(ctx, cmds)
	}
}

// TestPlainTasksRunNoFunctionOfOptions, whatever happens to them.
func TestPlainTasksRunNoFunctionOfOptions(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	rdb := connect(t, startRedis(t))
	w := witness{map[string]string{}}
	for _, s := range library.Used() {
		if s.ReadOnly {
			continue
		}
		text := optionFunction.ReplaceAllString(s.Text(), `$0 redis.call('HINCRBY', '`+seen+`', '$1', 1)`)
		sha, err := rdb.ScriptLoad(ctx, text).Result()
		if err != nil {
			t.Fatal(s.Name, err)
		}
		w.texts[s.SHA()] = sha
	}
	rdb.AddHook(w)
	c := newClient(t, options(rdb, 1))
	with := testTerms
	with.lease = time.Millisecond
	live := func(task Task) {
		claim := func() *running { return claimOne(t, c, 0, testTerms) }
		for _, v := range []verdict{retry, snooze, giveBack, bury} {
			if task.Unique == "" {
				task.Delay = time.Millisecond
			}
			id := enqueue(t, c, task)
			settle(t, c, end(claim(), v, time.Millisecond, "no"))
			if v == bury {
				if err := c.Retry(ctx, id); err != nil {
					t.Fatal(err)
				}
			}
			run := claim()
			renew(t, c, time.Second, run)
			settle(t, c, end(run, complete, 0, ""))
		}
		for with.crashesMax = 1; with.crashesMax < 4; with.crashesMax++ { // buried at once or later, or delayed
			id := enqueue(t, c, task)
			for range min(with.crashesMax, 2) {
				claimOne(t, c, 0, with)
				until(t, "the lease to be taken back", func() bool { return step(t, c, 0, 0, overdueMax, with).reaped == 1 })
			}
			if _, err := c.Cancel(ctx, id); err != nil {
				t.Fatal(err)
			}
		}
		for _, claimed := range []bool{false, true} {
			id := enqueue(t, c, task)
			if claimed {
				claim()
			}
			if _, err := c.Cancel(ctx, id); err != nil {
				t.Fatal(err)
			}
		}
	}
	live(Task{Kind: "k"})
	live(Task{Kind: "k", Unique: "key"})
	if got := rdb.HGetAll(ctx, seen).Val(); len(got) > 0 {
		t.Errorf("plain tasks ran functions of options: %v", got)
	}
	live(Task{Kind: "k", Limit: &Limit{Key: "key", Max: 1}})
	if rdb.HLen(ctx, seen).Val() == 0 {
		t.Error("the witness sees nothing")
	}
}
