package queue

import (
	"context"
	"fmt"
	"strconv"
)

// walkCount is about how many tasks one step of Walk reads.
const walkCount = 50

// Payload is what Walk and Payloads find of a task.
type Payload struct {
	ID   string
	Kind string
	Data []byte
}

// Walk reads tasks in whatever state they are: from an empty cursor until next is empty, it returns every task that exists all the
// while at least once. A page may be empty with more to come. partition -1 = all.
func (c *Client) Walk(ctx context.Context, partition int, cursor string) (page []Payload, next string, err error) {
	p, at := max(partition, 0), uint64(0)
	if cursor != "" {
		if _, err := fmt.Sscanf(cursor, "%d %d", &p, &at); err != nil || p < 0 || p >= c.partitions {
			return nil, "", fmt.Errorf("%w: cursor %q", ErrInvalid, cursor)
		}
	}
	found, more, err := c.rdb.HScan(ctx, c.keys[p].Of("tasks"), at, "", walkCount).Result()
	if err != nil {
		return nil, "", fmt.Errorf("queue: walk: %w", err)
	}
	for i := 0; i+1 < len(found); i += 2 {
		if one, ok := payloadOf(found[i], found[i+1]); ok {
			page = append(page, one)
		}
	}
	switch {
	case more != 0:
		next = fmt.Sprint(p, " ", more)
	case partition < 0 && p+1 < c.partitions:
		next = strconv.Itoa(p+1) + " 0"
	}
	return page, next, nil
}

// Payloads reads tasks of one partition by id, in whatever state they are; those that do not exist are left out.
func (c *Client) Payloads(ctx context.Context, ids []string) (found []Payload, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	p, err := c.partitionOf(ids[0])
	if err != nil {
		return nil, err
	}
	values, err := c.rdb.HMGet(ctx, c.keys[p].Of("tasks"), ids...).Result()
	if err != nil {
		return nil, fmt.Errorf("queue: payloads: %w", err)
	}
	for i, value := range values {
		if spec, ok := value.(string); ok {
			if one, ok := payloadOf(ids[i], spec); ok {
				found = append(found, one)
			}
		}
	}
	return found, nil
}

func payloadOf(id, spec string) (Payload, bool) {
	var t Task
	if err := parseSpec(&t, spec); err != nil {
		return Payload{}, false // written by another version
	}
	return Payload{ID: id, Kind: t.Kind, Data: t.Payload}, true
}

// Rewrite replaces the payload of a task in one atomic step, in whatever state the task is, if it is still the one that was read. A
// run that has begun keeps what it was given; the next one gets the new payload. It reports whether it did. Id, due time, attempts
// and unique key stay.
func (c *Client) Rewrite(ctx context.Context, was Payload, now []byte) (bool, error) {
	p, err := c.partitionOf(was.ID)
	if err != nil {
		return false, err
	}
	one := &call{Call: rewriteScript.On(c.work[p]).Arg("id", was.ID).Arg("was", was.Data).Arg("now", now)}
	if err := c.run(ctx, []*call{one}); err != nil {
		return false, fmt.Errorf("queue: rewrite: %w", err)
	}
	done, err := one.cmd.Int64()
	return done == 1, err
}
