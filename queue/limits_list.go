package queue

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/chatd/chatd/queue/script"
)

const (
	limitsPageDefault = 20
	limitsPageMax     = 100
	limitIDsMax       = 20 // holders, and waiters, of a key that are named
)

// LimitInfo says who has the slots of one key of limits in one partition, and who waits for them. The key of tasks with
// subjects in different partitions appears once for each: a limit holds within its partition.
type LimitInfo struct {
	Key     string
	Held    int64     // tasks that have a slot: they run, are ready with one, or keep it until they end; and holders of Client.Hold
	Waiting int64     // tasks that are parked, and callers of Client.Hold that wait
	Since   time.Time // since when the first of them waits, by the clock of Redis; zero: none waits
	Holders []string  // ids of Held, at most 20
	Waiters []string  // ids of Waiting, longest parked first, at most 20
}

// Limits returns a page of the keys of limits that are in use, partition by partition. limit is how many: 20 if it is 0,
// 100 at most. next is the cursor of the next page, empty after the last one. Each page is read at one instant for each
// partition. A key that is in use while all pages are read is on one of them; while others come and go, it may be on two.
// ErrInvalid: the cursor is not of this list.
func (c *Client) Limits(ctx context.Context, cursor string, limit int) (infos []LimitInfo, next string, err error) {
	p, scan, after, ok := parseLimitsCursor(cursor)
	if !ok || p >= c.partitions {
		return nil, "", fmt.Errorf("%w: cursor %q", ErrInvalid, cursor)
	}
	if limit <= 0 {
		limit = limitsPageDefault
	}
	limit = min(limit, limitsPageMax)
	for ; p < c.partitions; p, scan, after = p+1, "0", "" {
		if len(infos) == limit {
			return infos, makeLimitsCursor(p, "0", ""), nil
		}
		one := &call{Call: limitsScript.On(c.work[p]).Arg("page", limit-len(infos)).Arg("ids_max", limitIDsMax).Arg("cursor", scan).Arg("after", after)}
		if err := c.run(ctx, []*call{one}); err != nil {
			return nil, "", fmt.Errorf("queue: limits: %w", err)
		}
		values, err := one.cmd.Slice()
		if err != nil || len(values)%6 != 2 {
			return nil, "", fmt.Errorf("queue: limits: unexpected answer %.200v", one.cmd)
		}
		reply := script.Reply(values)
		for i := 2; i < len(values); i += 6 {
			info := LimitInfo{
				Key: reply.Text(i), Held: reply.Number(i + 1), Waiting: reply.Number(i + 2),
				Holders: reply.Texts(i + 4), Waiters: reply.Texts(i + 5),
			}
			if us := reply.Number(i + 3); us > 0 {
				info.Since = time.UnixMicro(us)
			}
			infos = append(infos, info)
		}
		if scan, after = reply.Text(0), reply.Text(1); scan != "0" || after != "" {
			return infos, makeLimitsCursor(p, scan, after), nil
		}
	}
	return infos, "", nil
}

// makeLimitsCursor returns the cursor of a position, as limits.lua returns it.
func makeLimitsCursor(partition int, scan, after string) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "limits %d %s %s", partition, scan, after))
}

func parseLimitsCursor(cursor string) (partition int, scan, after string, ok bool) {
	if cursor == "" {
		return 0, "0", "", true
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	fields := strings.SplitN(string(text), " ", 4)
	if err != nil || len(fields) != 4 || fields[0] != "limits" || strings.ContainsAny(fields[3], "\r\n") {
		return 0, "", "", false
	}
	partition, err = strconv.Atoi(fields[1])
	_, scanErr := strconv.ParseUint(fields[2], 10, 64)
	return partition, fields[2], fields[3], err == nil && partition >= 0 && scanErr == nil
}
