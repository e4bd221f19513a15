package conn

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/chatd/chatd/queue"
)

// ConditionKind names a problem of a server that answers.
type ConditionKind string

// The kinds of conditions.
const (
	ConditionPersistence ConditionKind = "persistence" // a restart or a crash of the server loses acknowledged messages
	ConditionEviction    ConditionKind = "eviction"    // a full server deletes counters and cursors instead of refusing sends
	ConditionMemory      ConditionKind = "memory"      // nearly full, or full: sends are refused
	ConditionReplica     ConditionKind = "replica"     // read-only: nothing can be written
	ConditionCoverage    ConditionKind = "coverage"    // a cluster refuses all commands while one shard has no master
)

// ConditionKinds are all of them, for metrics that also show those that do not hold.
var ConditionKinds = []ConditionKind{ConditionPersistence, ConditionEviction, ConditionMemory, ConditionReplica, ConditionCoverage}

// Condition is a state of the server that its operator should change. Message says what it costs and what to do.
type Condition struct {
	Kind    ConditionKind
	Message string
}

// memoryShareMax is the share of maxmemory at which operators are warned: the rest has to last until they act.
const memoryShareMax = 0.9

// Conditions asks each server for its state: two commands, none on the embedded store. It leaves out what the server's access
// rules do not allow it to ask. In a cluster, it reports each kind once, with the address of the first master that has it.
func (d *Deployment) Conditions(ctx context.Context) ([]Condition, error) {
	if d.embedded != nil {
		return nil, nil
	}
	masters, err := d.Masters(ctx)
	if err != nil {
		return nil, err
	}
	var all []Condition
	for _, one := range masters {
		found, err := d.conditionsOf(ctx, one.Client)
		if err != nil {
			return nil, err
		}
		for _, c := range found {
			if slices.ContainsFunc(all, func(known Condition) bool { return known.Kind == c.Kind }) {
				continue
			}
			if d.cluster != nil {
				c.Message = one.Addr + ": " + c.Message
			}
			all = append(all, c)
		}
	}
	return all, nil
}

func (d *Deployment) conditionsOf(ctx context.Context, client queue.Redis) ([]Condition, error) {
	text, err := client.Info(ctx, "persistence", "memory", "replication").Result()
	if err != nil && !Refused(err) {
		return nil, fmt.Errorf("INFO: %w", err)
	}
	info := infoFields(text)
	settings := map[string]string{}
	for _, name := range []string{"maxmemory-policy", "save", "cluster-require-full-coverage", "min-replicas-to-write"} {
		got, err := client.ConfigGet(ctx, name).Result()
		if err != nil && !Refused(err) {
			return nil, fmt.Errorf("CONFIG GET: %w", err)
		}
		for name, value := range got {
			settings[name] = value
		}
	}
	var found []Condition
	for _, c := range []struct {
		kind    ConditionKind
		message string
	}{
		{ConditionPersistence, persistenceProblem(info, settings)},
		{ConditionEviction, evictionProblem(settings["maxmemory-policy"])},
		{ConditionMemory, memoryProblem(info)},
		{ConditionReplica, cmp.Or(replicaProblem(info), replicasProblem(info, settings["min-replicas-to-write"]))},
		{ConditionCoverage, d.coverageProblem(settings["cluster-require-full-coverage"])},
	} {
		if c.message != "" {
			found = append(found, Condition{c.kind, c.message})
		}
	}
	return found, nil
}

func persistenceProblem(info, settings map[string]string) string {
	save, known := settings["save"]
	switch {
	case info["aof_enabled"] == "1" && info["aof_last_write_status"] == "err":
		return "the append-only file cannot be written: Redis refuses writes until its disk has room; see its log"
	case known && save != "" && info["rdb_last_bgsave_status"] == "err":
		return "the last snapshot could not be written: Redis refuses writes until one can, unless stop-writes-on-bgsave-error is no; see its log"
	case info["aof_enabled"] != "0":
		return ""
	case known && save == "":
		return "Redis persists nothing: a restart loses every message; set appendonly yes"
	}
	return "Redis keeps snapshots only: a crash loses what was sent since the last one; set appendonly yes"
}

func (d *Deployment) coverageProblem(setting string) string {
	if d.cluster == nil || setting != "yes" {
		return ""
	}
	return "cluster-require-full-coverage is yes: while one shard has no master, the others refuse all commands too; set it to no"
}

func evictionProblem(policy string) string {
	if policy == "" || policy == "noeviction" {
		return ""
	}
	return fmt.Sprintf("maxmemory-policy is %s: Redis deletes counters and cursors when its memory is full; set it to noeviction", policy)
}

func memoryProblem(info map[string]string) string {
	used, _ := strconv.ParseFloat(info["used_memory"], 64)
	limit, _ := strconv.ParseFloat(info["maxmemory"], 64)
	switch {
	case limit == 0 || used < memoryShareMax*limit:
		return ""
	case used >= limit:
		return fmt.Sprintf("Redis is full (maxmemory is %.0f MiB): sends are refused; raise maxmemory", limit/(1<<20))
	}
	return fmt.Sprintf("Redis uses %.0f %% of its maxmemory of %.0f MiB; when it is full, sends are refused", 100*used/limit, limit/(1<<20))
}

func replicaProblem(info map[string]string) string {
	if info["role"] != "slave" {
		return ""
	}
	return fmt.Sprintf("Redis is a read-only replica of %s:%s: nothing can be written; connect to the primary, or through redis-sentinel://",
		info["master_host"], info["master_port"])
}

// replicasProblem says that a primary with too few replicas takes no writes.
func replicasProblem(info map[string]string, setting string) string {
	want, _ := strconv.Atoi(setting)
	good, err := strconv.Atoi(info["min_slaves_good_slaves"]) // there only where the setting is in force
	if err != nil || good >= want {
		return ""
	}
	return fmt.Sprintf("Redis is read-only: %d replicas follow it closely enough, and min-replicas-to-write is %d; connect more, or lower the setting",
		good, want)
}

// Ready returns nil if the store can serve: it answers and accepts writes. A full Redis counts as ready: acks have to reach it, so
// that it empties. In a cluster, it is enough that one master answers: the
// node can still serve the groups there.
func (d *Deployment) Ready(ctx context.Context) error {
	if d.embedded != nil {
		return d.Writable(ctx)
	}
	if d.cluster != nil {
		return d.Ping(ctx)
	}
	text, err := d.client.Info(ctx, "replication").Result()
	if Refused(err) {
		return d.Ping(ctx)
	}
	if err != nil {
		return fmt.Errorf("INFO: %w", err)
	}
	if problem := replicaProblem(infoFields(text)); problem != "" {
		return errReplica
	}
	return nil
}
