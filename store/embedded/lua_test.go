package embedded

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// TestScriptsAnswerAsRedisDoes lists what scripts see and answer, as Redis 7 documents it.
func TestScriptsAnswerAsRedisDoes(t *testing.T) {
	ctx := context.Background()
	c := client(t, openStore(t, Options{}))
	for lua, want := range map[string]any{
		"return 1":                int64(1),
		"return 3.99":             int64(3),
		"return 'a'":              "a",
		"return true":             int64(1),
		"return {1, 'b', {true}}": []any{int64(1), "b", []any{int64(1)}},
		"return {1, nil, 3}":      []any{int64(1)},
		"return {ok = 'fine'}":    "fine",
		"return KEYS[1] .. ARGV[1] .. #KEYS .. #ARGV":                                       "ka11",
		"return redis.status_reply('fine')":                                                 "fine",
		"return redis.sha1hex('')":                                                          "da39a3ee5e6b4b0d3255bfef95601890afd80709",
		"redis.call('SET', KEYS[1], 9007199254740991) return redis.call('GET', KEYS[1])":    "9007199254740991",
		"redis.call('SET', KEYS[1], 0.1) return redis.call('GET', KEYS[1])":                 "0.10000000000000001",
		"redis.call('ZADD', 'z', 1795500000000, 'a') return redis.call('ZSCORE', 'z', 'a')": "1795500000000",
		"return redis.call('SET', KEYS[1], 'v')":                                            "OK",
		"return redis.call('SET', KEYS[1], 'v').ok":                                         "OK",
		"return tostring(redis.call('GET', 'none'))":                                        "false",
		"return redis.pcall('LPUSH', KEYS[1], 'v').err":                                     "WRONGTYPE Operation against a key holding the wrong kind of value",
		"return #redis.call('HGETALL', 'none')":                                             int64(0),
		"return cjson.encode({b = 1, a = {1, 2}})":                                          `{"a":[1,2],"b":1}`,
		"return cjson.decode('[1,\"x\"]')[2]":                                               "x",
		"local t = {} for i = 1, 20000 do t[i] = i end return select('#', unpack(t))":       int64(20000),
		"local ok, e = pcall(redis.call, 'NOPE') return tostring(ok) .. type(e)":            "falsetable",
		"local t = redis.call('TIME') return #t":                                            int64(2),
		"return string.format('%.0f', 2^53)":                                                "9007199254740992",
	} {
		// The key is set to a string before each call, for those that need one.
		if err := c.Eval(ctx, "return redis.call('SET', KEYS[1], 'x')", []string{"k"}).Err(); err != nil {
			t.Fatal(err)
		}
		got, err := c.Eval(ctx, lua, []string{"k"}, "a").Result()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n\tanswers %#v, %v, want %#v", lua, got, err, want)
		}
	}
	for _, lua := range []string{"return nil", "return false", "return redis.call('GET', 'none')", ""} {
		if err := c.Eval(ctx, lua, []string{"k"}).Err(); !errors.Is(err, redis.Nil) {
			t.Errorf("%q: %v", lua, err)
		}
	}
	for lua, want := range map[string]string{
		"return redis.error_reply('MINE says no')":         "MINE says no",
		"return {err = 'MINE too'}":                        "MINE too",
		"return redis.error_reply('NO')":                   "ERR NO",
		"redis.call('LPUSH', KEYS[1], 'v')":                "WRONGTYPE Operation against a key holding the wrong kind of value script: ",
		"error('plain')":                                   "ERR user_script:1: plain script: ",
		"error({err = 'MINE thrown'})":                     "MINE thrown script: ",
		"x = 1":                                            "ERR user_script:1: Script attempted to create global variable 'x'",
		"return nope":                                      "ERR user_script:1: Script attempted to access nonexistent global variable 'nope'",
		"return redis.call('NOPE')":                        "ERR unknown command",
		"return redis.call()":                              "ERR Please specify at least one argument",
		"return redis.call('GET', {})":                     "ERR Lua redis lib command arguments",
		"return os.time()":                                 "ERR user_script:1: Script attempted to access nonexistent global variable 'os'",
		"return require('io')":                             "ERR user_script:1: Script attempted to access nonexistent global variable 'require'",
		"this is no Lua":                                   "ERR Error compiling script",
		"local function f() return f() + 1 end return f()": "ERR ",
	} {
		err := c.Eval(ctx, lua, []string{"k"}).Err()
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s\n\tanswers %v, want %s", lua, err, want)
		}
	}
	// Whatever failed before, the next script runs as if it were the first.
	if got, err := c.Eval(ctx, "return {KEYS[1], #ARGV}", []string{"k"}).Slice(); err != nil || fmt.Sprint(got) != "[k 0]" {
		t.Errorf("afterwards: %v %v", got, err)
	}
}

// TestLoadedScriptIsCompiledWhenItRuns: a loaded script is compiled when it first runs. Invalid Lua fails then, every time.
func TestLoadedScriptIsCompiledWhenItRuns(t *testing.T) {
	ctx := context.Background()
	c := client(t, openStore(t, Options{}))
	random := "return math.random()"
	if sha, err := c.ScriptLoad(ctx, random).Result(); err == nil {
		t.Errorf("%s is loaded as %s", random, sha)
	}
	if err := c.EvalSha(ctx, hashSource(random), nil).Err(); !redis.HasErrorPrefix(err, "NOSCRIPT") {
		t.Errorf("%s: got %v, want NOSCRIPT", random, err)
	}
	invalid, err := c.ScriptLoad(ctx, "this is no Lua").Result()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.EvalSha(ctx, invalid, nil).Err(); err == nil || !strings.HasPrefix(err.Error(), "ERR Error compiling script") {
			t.Errorf("invalid Lua: got %v, want an error of its compilation", err)
		}
	}
	sha, err := c.ScriptLoad(ctx, "return 7").Result()
	if err != nil {
		t.Fatal(err)
	}
	known, err := c.ScriptExists(ctx, sha, hashSource(random), invalid).Result()
	if want := []bool{true, false, true}; err != nil || !slices.Equal(known, want) {
		t.Errorf("SCRIPT EXISTS: got %v, %v; want %v", known, err, want)
	}
	if got, err := c.EvalSha(ctx, sha, nil).Int(); err != nil || got != 7 {
		t.Errorf("got %d, %v", got, err)
	}
	if err := c.Do(ctx, "SCRIPT", "KILL").Err(); err == nil || !strings.Contains(err.Error(), "knows SCRIPT LOAD") {
		t.Errorf("SCRIPT KILL: got %v, want it refused", err)
	}
}
