package conn

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/queue"
)

// Inspect checks whether the servers can be the store: their version, and that they never evict keys.
func (d *Deployment) Inspect(ctx context.Context) error {
	if d.embedded != nil {
		return nil
	}
	masters, err := d.Masters(ctx)
	if err != nil {
		return err
	}
	for _, one := range masters {
		if err := d.inspectOne(ctx, one.Client); err != nil && d.cluster != nil {
			return fmt.Errorf("%w (at %s)", err, one.Addr)
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (d *Deployment) inspectOne(ctx context.Context, client queue.Redis) error {
	info, err := client.Info(ctx, "server", "replication").Result()
	switch {
	case redis.HasErrorPrefix(err, "NOPERM"):
		d.log.Warn("cannot read the version and the role of the store; it must be Redis 7.0, Valkey 7.2 or later, and no replica", "error", err)
		return d.checkEviction(ctx, client)
	case err != nil:
		return fmt.Errorf("INFO: %w", err)
	}
	fields := infoFields(info)
	major, _, _ := strings.Cut(fields["redis_version"], ".")
	if number, _ := strconv.Atoi(major); number < 7 {
		return fmt.Errorf("the server has version %q; chatd needs Redis 7.0 or Valkey 7.2 or later", fields["redis_version"])
	}
	if problem := replicaProblem(fields); problem != "" {
		return fmt.Errorf("%s", problem)
	}
	return d.checkEviction(ctx, client)
}

// checkEviction refuses a server that may evict a counter or a cursor when its memory is full: ids would start over.
func (d *Deployment) checkEviction(ctx context.Context, client queue.Redis) error {
	policy, err := client.ConfigGet(ctx, "maxmemory-policy").Result()
	if err != nil {
		if !Refused(err) {
			return fmt.Errorf("CONFIG GET: %w", err)
		}
		d.log.Warn("cannot read the eviction policy of the store; it must be noeviction, or messages will be lost",
			"error", err)
		return nil
	}
	if p := policy["maxmemory-policy"]; evictionProblem(p) != "" {
		return fmt.Errorf("%s", evictionProblem(p))
	}
	return nil
}

func infoFields(info string) map[string]string {
	fields := map[string]string{}
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields
}
