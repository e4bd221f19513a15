package queue

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
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
		{settleScript, "if at == #ARGV and freed == 0 and #sizes == 0 then return "},
	} {
		text := hot.script.Text
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
