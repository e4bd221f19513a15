package doctor

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/script"
	"github.com/chatd/chatd/store/conn"
)

// Server is what was found about the server, and about the layout of its content.
type Server struct {
	Kind           string   `json:"kind"` // redis, cluster or embedded
	Version        string   `json:"version"`
	Layout         int      `json:"layout"`
	Partitions     int      `json:"partitions"`
	Role           string   `json:"role"`
	Replicas       int      `json:"replicas"`
	Persistence    string   `json:"persistence"`
	Eviction       string   `json:"eviction"`
	MemoryBytes    int64    `json:"memory_bytes"`
	MemoryMaxBytes int64    `json:"memory_max_bytes"` // 0: no limit
	ClockAheadMs   int64    `json:"clock_ahead_ms"`   // relative to this host's clock; negative: it is behind
	MissingRights  []string `json:"missing_rights"`
}

// clockApartMax is how far the clocks of server and node may differ: a client's token lasts minutes, and displayed
// times come from the node.
const clockApartMax = 5 * time.Second

// servers examines what chatd runs on: the servers, and the archive.
type servers struct{ *exam }

// server checks what operators configure.
func (d *servers) server(ctx context.Context) error {
	s := &d.report.Server
	client := d.store.Client()
	fields, err := client.HMGet(ctx, d.keys.part(0)+"layout", "version").Result()
	if err != nil {
		return fmt.Errorf("cannot read the layout of the store: %w", err)
	}
	s.Layout, s.Partitions = int(script.Reply(fields).Number(0)), d.store.Partitions()
	s.MissingRights = []string{}
	masters, err := d.store.Conn().Masters(ctx)
	if err != nil {
		return fmt.Errorf("masters: %w", err)
	}
	for _, one := range masters {
		if err := d.clockOf(ctx, one.Client); err != nil {
			return err
		}
	}
	if d.store.Conn().IsEmbedded() {
		s.Kind, s.Role, s.Persistence, s.Eviction = "embedded", "master", "journal", "noeviction"
		return nil
	}
	s.Kind = "redis"
	if d.store.Conn().IsCluster() {
		s.Kind = "cluster"
	}
	for _, one := range masters {
		if err := d.redis(ctx, one.Client); err != nil {
			return err
		}
	}
	conditions, err := d.store.Conn().Conditions(ctx)
	if err != nil {
		return err
	}
	for _, c := range conditions {
		if err := d.found(ctx, Finding{Kind: Kind(c.Kind), Message: c.Message}); err != nil {
			return err
		}
	}
	for _, one := range masters {
		if err := d.rights(ctx, one); err != nil || len(s.MissingRights) > 0 {
			return err
		}
	}
	return nil
}

// clockOf compares the clock of a server with that of this host.
func (d *servers) clockOf(ctx context.Context, client queue.Redis) error {
	before := time.Now()
	server, err := client.Time(ctx).Result()
	if err != nil {
		return fmt.Errorf("TIME: %w", err)
	}
	took := time.Since(before)
	ahead := server.Sub(before.Add(took / 2))
	d.report.Server.ClockAheadMs = ahead.Milliseconds()
	if ahead.Abs() <= clockApartMax+took/2 {
		return nil
	}
	return d.found(ctx, Finding{Kind: KindClock, Message: fmt.Sprintf("the clock of the server is %s ahead of this host's; synchronise both (NTP)",
		ahead.Round(time.Millisecond))})
}

// redis reads INFO and CONFIG of one master, as far as the user may.
func (d *servers) redis(ctx context.Context, client queue.Redis) error {
	s := &d.report.Server
	text, err := client.Info(ctx, "server", "memory", "replication", "persistence").Result()
	if err != nil && !refused(err) {
		return fmt.Errorf("INFO: %w", err)
	}
	info := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[name] = value
		}
	}
	s.Version, s.Role = info["redis_version"], info["role"]
	replicas, _ := strconv.Atoi(info["connected_slaves"])
	used, _ := strconv.ParseInt(info["used_memory"], 10, 64)
	limit, _ := strconv.ParseInt(info["maxmemory"], 10, 64)
	s.Replicas, s.MemoryBytes, s.MemoryMaxBytes = s.Replicas+replicas, s.MemoryBytes+used, s.MemoryMaxBytes+limit
	settings := map[string]string{}
	for _, name := range []string{"maxmemory-policy", "appendfsync", "save"} {
		got, err := client.ConfigGet(ctx, name).Result()
		if err != nil && !refused(err) {
			return fmt.Errorf("CONFIG GET: %w", err)
		}
		settings[name] = got[name]
	}
	s.Eviction = settings["maxmemory-policy"]
	switch {
	case info["aof_enabled"] == "1":
		s.Persistence = strings.TrimSpace("aof " + settings["appendfsync"])
	case settings["save"] != "":
		s.Persistence = "snapshots " + settings["save"]
	case info["aof_enabled"] == "0":
		s.Persistence = "none"
	}
	return nil
}

func refused(err error) bool {
	return redis.HasErrorPrefix(err, "NOPERM") || redis.HasErrorPrefix(err, "unknown command")
}

// needed are the commands of chatd and of its scripts, with valid arguments; %s is a key, %c a channel.
var needed = strings.FieldsFunc(`del %s|exists %s|get %s|hdel %s f|hexists %s f|hget %s f|hgetall %s|hincrby %s f 1|hkeys %s|hlen %s
hmget %s f|hscan %s 0|hset %s f v|hsetnx %s f v|hstrlen %s f|hvals %s|incr %s|incrby %s 1|lindex %s 0|llen %s|lpop %s|lpos %s v|lpush %s v
lrange %s 0 1|lrem %s 1 v|lset %s 0 v|ltrim %s 0 1|mget %s|publish %c m|rename %s %s|rpush %s v|sadd %s v|set %s v|setnx %s v
sismember %s v|smismember %s v|srem %s v|time|unlink %s|wait 0 1|zadd %s 1 m|zcard %s|zcount %s 0 1|zlexcount %s - +|zmscore %s m
zrange %s 0 1|zrangebylex %s - +|zrangebyscore %s 0 1|zrank %s m|zrem %s m|zremrangebyrank %s 0 1|zremrangebyscore %s 0 1
zrevrange %s 0 1|zrevrangebylex %s + -|zrevrangebyscore %s 1 0|zrevrank %s m|zscore %s m|evalsha 0 0|evalsha_ro 0 0
script load return`, func(r rune) bool { return r == '|' || r == '\n' })

// rights determines which commands the user may not call: in a transaction that an error at its beginning keeps from
// being executed, so that nothing happens.
func (d *servers) rights(ctx context.Context, server conn.Server) error {
	one := server.Conn()
	defer func() { _ = one.Close() }()
	err := one.Do(ctx, "multi").Err()
	if err == nil {
		if mistake := one.Do(ctx, "get").Err(); !redis.HasErrorPrefix(mistake, "wrong number") && !redis.HasErrorPrefix(mistake, "NOPERM") {
			err = fmt.Errorf("want an error from GET without a key, got: %w", mistake)
		}
	}
	if err != nil {
		return fmt.Errorf("cannot check the rights of the Redis user: MULTI: %w", err)
	}
	pipe := one.Pipeline()
	var cmds []*redis.Cmd
	for _, text := range needed {
		var args []any
		for _, word := range strings.Fields(text) {
			switch word {
			case "%s":
				word = d.keys.part(0) + "doctor"
			case "%c":
				word = d.keys.part(0) + "g:doctor"
			}
			args = append(args, word)
		}
		cmds = append(cmds, pipe.Do(ctx, args...))
	}
	end := pipe.Do(ctx, "exec")
	if _, _ = pipe.Exec(ctx); !redis.HasErrorPrefix(end.Err(), "EXECABORT") {
		return fmt.Errorf("cannot check the rights of the Redis user: EXEC: %w", end.Err())
	}
	for i, cmd := range cmds {
		if redis.HasErrorPrefix(cmd.Err(), "NOPERM") {
			name, _, _ := strings.Cut(needed[i], " ")
			d.report.Server.MissingRights = append(d.report.Server.MissingRights, name)
		}
	}
	missing := d.report.Server.MissingRights
	slices.Sort(missing)
	if len(missing) == 0 {
		return nil
	}
	return d.found(ctx, Finding{Kind: KindRights, Message: "the Redis user may not run " + strings.Join(missing, ", ") +
		"; docs/redis.acl lists the rights that chatd needs"})
}
