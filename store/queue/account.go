package queue

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Account sums up the tasks of one account that wait or run.
type Account struct {
	Tasks int64
	Bytes int64 // of what was enqueued: payloads and about 60 for each task
	// Dropped is how many were not enqueued, as the scripts of the application count it in "dropped~<account>".
	Dropped int64
}

// WithAccount returns the id under which a task is counted for an account, see Client.Accounts. An account has no blanks.
func WithAccount(id, account string) string { return id + "~" + account }

// Accounts sums up, for each account, the tasks that wait or run: exactly, because every script that moves a task counts in
// the same step. Dead ones are not counted, nor are those without an account. The cost grows with the number of accounts
// and partitions, not with that of tasks.
func (c *Client) Accounts(ctx context.Context) (map[string]Account, error) {
	cmds := make([]*redis.MapStringStringCmd, c.partitions)
	pipe := c.rdb.Pipeline()
	for p := range cmds {
		cmds[p] = pipe.HGetAll(ctx, c.keys[p].Counts())
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("queue: accounts: %w", err)
	}
	accounts := make(map[string]Account)
	for _, cmd := range cmds {
		for field, value := range cmd.Val() {
			what, name, ok := strings.Cut(field, "~")
			if !ok {
				continue
			}
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("queue: accounts: %s of %s is %q", what, name, value)
			}
			a := accounts[name]
			switch what {
			case "tasks":
				a.Tasks += n
			case "bytes":
				a.Bytes += n
			case "dropped":
				a.Dropped += n
			}
			accounts[name] = a
		}
	}
	return accounts, nil
}
