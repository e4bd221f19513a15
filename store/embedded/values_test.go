package embedded

import (
	"errors"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/internal/redistest"
)

// TestScriptsReadValuesAsRedisDoes calls every command that is answered without miniredis, and wrong forms of it, on keys of every
// type, in the store and in a redis-server.
func TestScriptsReadValuesAsRedisDoes(t *testing.T) {
	ctx := t.Context()
	ours := client(t, openStore(t, Options{}))
	real := redis.NewClient(&redis.Options{Addr: redistest.Start(t).Addr})
	t.Cleanup(func() { _ = real.Close() })
	const fill = `redis.call('SET', 'text', 'x') redis.call('SET', 'empty', '') redis.call('SET', 'number', 9007199254740991)
redis.call('HSET', 'hash', 'a', '1', 'b', '', 'c', 'x y') redis.call('HSET', 'short', 'a', '1') redis.call('HDEL', 'short', 'a')
redis.call('RPUSH', 'list', 'x') redis.call('SADD', 'set', 'x') redis.call('ZADD', 'sorted', 1, 'x') redis.call('SET', 'gone', 'x')
redis.call('DEL', 'gone') redis.call('HSET', 'before', 'a', '1') redis.call('RENAME', 'before', 'after')`
	const ask = `local got = redis.pcall(unpack(ARGV))
if type(got) == 'table' and got.err then return 'error ' .. got.err end
return cjson.encode({got})`
	for _, c := range []*redis.Client{ours, real} {
		if err := c.Eval(ctx, fill, nil).Err(); err != nil && !errors.Is(err, redis.Nil) {
			t.Fatal(err)
		}
	}
	for _, key := range strings.Fields("text empty number hash short list set sorted gone before after never") {
		for _, call := range []string{
			"GET", "GET %s", "GET %s a", "MGET", "MGET %s", "MGET text %s never %s", "EXISTS", "EXISTS %s", "EXISTS %s text %s never",
			"HGET %s", "HGET %s a", "HGET %s b", "HGET %s never", "HGET %s a b", "HMGET %s", "HMGET %s a", "HMGET %s never b a a", "HLEN",
			"HLEN %s", "HLEN %s a", "HEXISTS %s", "HEXISTS %s a", "HEXISTS %s never", "HEXISTS %s a b",
		} {
			args := []any{}
			for word := range strings.FieldsSeq(strings.ReplaceAll(call, "%s", key)) {
				args = append(args, word)
			}
			got, err := ours.Eval(ctx, ask, nil, args...).Result()
			want, wantErr := real.Eval(ctx, ask, nil, args...).Result()
			if err != nil || wantErr != nil {
				t.Fatal(args, err, wantErr)
			}
			if plain(got) != plain(want) {
				t.Errorf("%v answers %v, in Redis %v", args, got, want)
			}
		}
	}
}

// plain is an answer without what Redis words otherwise in scripts than elsewhere.
func plain(answer any) string {
	text, _ := answer.(string)
	if strings.HasPrefix(strings.ToLower(text), "error err wrong number of arg") {
		return "wrong number"
	}
	return text
}
