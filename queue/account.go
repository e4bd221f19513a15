package queue

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Account sums up the waiting and running tasks of one account.
type Account struct {
	Tasks int64
	Bytes int64 // enqueued bytes: the payloads and about 60 for each task
	// Dropped is how many were not enqueued, as the application's scripts count them in "dropped~<account>".
	Dropped int64
}

// WithAccount returns an id that counts the task for an account, see Client.Accounts. An account has no blanks.
func WithAccount(id, account string) string { return id + "~" + account }

// Accounts sums up the waiting and running tasks of each account. The sums are exact, because every script that moves a
// task counts it in the same step. Dead tasks and those without an account are not counted. The cost grows with the
// number of accounts and partitions, not with the number of tasks.
func (c *Client) Accounts(ctx context.Context) (map[string]Account, error) {
	cmds := make([]*redis.MapStringStringCmd, c.partitions)
	pipe := c.rdb.Pipeline()
	for p := range cmds {
		cmds[p] = pipe.HGetAll(ctx, c.keys[p].Of("counts"))
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
