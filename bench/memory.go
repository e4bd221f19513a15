package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/chatd/chatd/chat"
)

// memory gives the bytes that a stored message of 200 bytes costs the server.
func memory(b *bench) {
	b.table.section("memory of redis-server a stored message of 200 bytes")
	ok(b.group("mem-json", 1))
	sent := must(b.service.Send(b.ctx, chat.Caller{User: "owner"}, "mem-json", chat.Content{Body: body}, ""))
	b.table.count("its JSON, as it is served", "%d B", len(sent.JSON))
	for _, listpack := range []string{"64", "512"} {
		b.redis.Do("CONFIG", "SET", "zset-max-listpack-value", listpack)
		beside := fmt.Sprintf("zset-max-listpack-value %s: ", listpack)
		for _, shape := range []struct{ groups, each int }{{1, scaled(100_000)}, {scaled(100), 1000}, {scaled(1000), 100}, {scaled(2000), 10}} {
			bytes := memoryOf(b, "mem-"+listpack, shape.groups, shape.each)
			b.table.count(fmt.Sprintf("%s%d groups of %d messages with retry keys, two members", beside, shape.groups, shape.each),
				"%.0f B (the group's own keys included)", bytes)
			if shape.each >= 100 {
				memoryParts(b, "mem-"+listpack, shape.groups, shape.each)
			}
		}
		empty := "mem-empty-" + listpack
		ok(b.group(empty, 1))
		keys, _ := b.redis.Do("KEYS", "*g:"+empty+":*").([]any)
		bytes := int64(0)
		for _, key := range keys {
			bytes += memoryOfKey(b, fmt.Sprint(key))
		}
		b.table.count(beside+"a new group with two members", "%d B in %d keys", bytes, len(keys))
	}
	b.redis.Do("CONFIG", "SET", "zset-max-listpack-value", "64")
}

// memoryOf returns the bytes per message in groups of each messages, the keys of the groups included.
func memoryOf(b *bench, named string, groups, each int) float64 {
	before := b.redis.Field("memory", "used_memory")
	parallel(groups, 16, func(i int) error {
		id := fmt.Sprintf("%s-%d-%d", named, each, i)
		if err := b.group(id, 1); err != nil {
			return err
		}
		for n := range each {
			_, err := b.service.Send(b.ctx, chat.Caller{User: "owner"}, id, chat.Content{Body: body, ClientID: fmt.Sprint("key-", n)}, "")
			if err != nil {
				return err
			}
		}
		return nil
	})
	return float64(b.redis.Field("memory", "used_memory")-before) / float64(groups*each)
}

// memoryOfKey is what the server says that a key takes, every element counted.
func memoryOfKey(b *bench, key string) int64 {
	return b.redis.Int("MEMORY", "USAGE", key, "SAMPLES", "0")
}

// memoryParts divides what memoryOf measured among the kinds of keys, and says what the texts alone take of a sorted set with
// as many members: no way to store messages in order takes less.
func memoryParts(b *bench, named string, groups, each int) {
	const shown = 3
	total, kinds := float64(groups*each), map[string]float64{}
	for i := range groups {
		prefix := fmt.Sprintf("g:%s-%d-%d:", named, each, i)
		keys, _ := b.redis.Do("KEYS", "*"+prefix+"*").([]any)
		for _, key := range keys {
			_, kind, _ := strings.Cut(fmt.Sprint(key), prefix)
			kind, _, _ = strings.Cut(kind, ":") // what follows is a user
			kinds[kind] += float64(memoryOfKey(b, fmt.Sprint(key))) / total
		}
	}
	order := slices.SortedFunc(maps.Keys(kinds), func(x, y string) int { return cmp.Compare(kinds[y], kinds[x]) })
	parts, rest := []string{}, 0.0
	for i, kind := range order {
		if i < shown {
			parts = append(parts, fmt.Sprintf("%s %.0f B", kind, kinds[kind]))
		} else {
			rest += kinds[kind]
		}
	}
	b.table.count("  of it", "%s, others %.0f B", strings.Join(parts, ", "), rest)

	const bare = "bare:texts"
	for i := range each {
		b.redis.Do("ZADD", bare, fmt.Sprint(i), fmt.Sprintf("%0*d", len(*body), i))
	}
	b.table.count("  a sorted set of the texts alone", "%.0f B", float64(memoryOfKey(b, bare))/float64(each))
	b.redis.Do("DEL", bare)
}
