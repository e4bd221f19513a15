package store

import (
	"context"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	arriveScript    = newFreeing("presence/arrive", partNames)
	departScript    = newFreeing("presence/depart", partNames)
	heartbeatScript = newFreeing("presence/heartbeat", partNames)
	nodesScript     = newReader("presence/nodes", partNames)
)

// Arrive records that users have live sessions on node.
func (s *Notifications) Arrive(ctx context.Context, node string, users []string, lasts time.Duration) error {
	return s.presence(ctx, users, func(p *partKeys, some []string) call {
		return arriveScript.Sized(p, len(some)).Arg("node", node).Arg("lasts_ms", lasts.Milliseconds()).List("users", some)
	})
}

// Depart records that users no longer have a session on node.
func (s *Notifications) Depart(ctx context.Context, node string, users []string) error {
	return s.presence(ctx, users, func(p *partKeys, some []string) call {
		return departScript.Sized(p, len(some)).Arg("node", node).List("users", some)
	})
}

// NodesOf lists the live nodes on which a user has a session.
func (s *Notifications) NodesOf(ctx context.Context, user string) ([]string, error) {
	r, err := s.runSafe(ctx, nodesScript.On(s.keys.home(user)).Arg("user", user))
	if err != nil {
		return nil, err
	}
	nodes := make([]string, 0, len(r)-1)
	for i := 1; i < len(r); i++ {
		nodes = append(nodes, r.text(i))
	}
	return nodes, nil
}

// presence runs one step for each partition of users, in bounded pieces.
func (s *Notifications) presence(ctx context.Context, users []string, step func(p *partKeys, some []string) call) error {
	var calls []call
	for p, here := range s.byPartition(users) {
		for some := range slices.Chunk(here, rangeBatch) {
			calls = append(calls, step(s.keys.part(p), some))
		}
	}
	_, errs, err := s.runAll(ctx, calls)
	if err != nil {
		return err
	}
	return firstError(errs)
}

func firstError(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Heartbeat renews node in each partition where it has users, and corrects the users recorded there.
func (s *Notifications) Heartbeat(ctx context.Context, node string, users []string, lasts time.Duration) error {
	var calls []call
	var asked []int
	parts := s.byPartition(users)
	for p, here := range parts {
		if len(here) > 0 {
			calls = append(calls, heartbeatScript.On(s.keys.part(p)).Arg("node", node).Arg("lasts_ms", lasts.Milliseconds()))
			asked = append(asked, p)
		}
	}
	replies, errs, err := s.runAll(ctx, calls)
	if err != nil {
		return err
	}
	for i, p := range asked {
		if errs[i] != nil {
			return errs[i]
		}
		if replies[i].number(1) == int64(len(parts[p])) {
			continue
		}
		if err := s.putRight(ctx, node, p, parts[p], lasts); err != nil {
			return err
		}
	}
	return nil
}

// putRight makes a partition list exactly these users of node, after a loss or a restored backup.
func (s *Notifications) putRight(ctx context.Context, node string, p int, users []string, lasts time.Duration) error {
	known, err := s.conn.Client().ZRangeArgs(ctx, redis.ZRangeArgs{Key: s.keys.part(p).live(), ByLex: true, Start: "[" + node + " ", Stop: "(" + node + "!"}).Result()
	if err != nil {
		return fail("presence", err)
	}
	here := make(map[string]bool, len(users))
	for _, user := range users {
		here[user] = true
	}
	var gone []string
	for _, member := range known {
		if user := member[len(node)+1:]; !here[user] {
			gone = append(gone, user)
		}
	}
	if err := s.Depart(ctx, node, gone); err != nil {
		return err
	}
	return s.Arrive(ctx, node, users, lasts)
}
