package conn

import (
	"context"
	"fmt"
	"github.com/chatd/chatd/queue"
	"strconv"
	"strings"
	"time"
)

const rewriteTick = 100 * time.Millisecond // between two looks at a rewrite

// Scrub has a Redis server rewrite its files, so that they hold what the store holds now and nothing that was removed before. It
// returns a sentence for each kind of file. The server goes on serving meanwhile.
func (d *Deployment) Scrub(ctx context.Context) (done []string, err error) {
	aof, err := persistence(ctx, d.client, "aof_enabled")
	if err != nil {
		return nil, err
	}
	if aof == "1" {
		// One that runs already may have begun before the content went.
		for range 2 {
			if err := rewrite(ctx, d.client, "BGREWRITEAOF", "aof_rewrite_in_progress", "aof_last_bgrewrite_status"); err != nil {
				return done, err
			}
		}
		done = append(done, "Redis: append-only file rewritten")
	}
	snapshots, err := d.client.ConfigGet(ctx, "save").Result()
	if err == nil && snapshots["save"] == "" {
		return append(done, "Redis: no snapshots are configured; remove any old dump.rdb yourself"), nil
	}
	for range 2 {
		if err := rewrite(ctx, d.client, "BGSAVE", "rdb_bgsave_in_progress", "rdb_last_bgsave_status"); err != nil {
			return done, err
		}
	}
	return append(done, "Redis: snapshot rewritten"), nil
}

// persistence reads a field of INFO persistence.
func persistence(ctx context.Context, client queue.Redis, field string) (string, error) {
	info, err := client.Info(ctx, "persistence").Result()
	if err != nil {
		return "", fmt.Errorf("INFO: %w", err)
	}
	for line := range strings.Lines(info) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), ":"); name == field {
			return value, nil
		}
	}
	return "", nil
}

// rewrite waits for a rewrite that runs, then runs one to its end.
func rewrite(ctx context.Context, client queue.Redis, command, running, status string) error {
	wait := func() error {
		for {
			// A rewrite may also be scheduled, behind another process of the server.
			busy := false
			for _, field := range []string{"aof_rewrite_in_progress", "aof_rewrite_scheduled", "rdb_bgsave_in_progress", running} {
				value, err := persistence(ctx, client, field)
				if err != nil {
					return err
				}
				n, _ := strconv.Atoi(value)
				busy = busy || n > 0
			}
			if !busy {
				return nil
			}
			select {
			case <-time.After(rewriteTick):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	if err := wait(); err != nil {
		return err
	}
	if err := client.Do(ctx, command).Err(); err != nil && !strings.Contains(err.Error(), "in progress") {
		return fmt.Errorf("%s: %w; run it yourself", command, err)
	}
	if err := wait(); err != nil {
		return err
	}
	if value, err := persistence(ctx, client, status); err != nil || value != "ok" {
		return fmt.Errorf("%s failed: %s: %w", command, value, err)
	}
	return nil
}
