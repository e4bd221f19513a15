package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/chat/presence"
)

var (
	arriveScript    = newFreeing("presence/arrive", partNames)
	departScript    = newFreeing("presence/depart", partNames)
	heartbeatScript = newFreeing("presence/heartbeat", partNames)
	nodesScript     = newReader("presence/nodes", partNames)
	stateScript     = newFreeing("presence/state", partNames)
	ofScript        = newReader("presence/of", partNames)
	presentScript   = newReader("presence/present", partNames)
	openScript      = newFreeing("presence/open", groupNames)
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

// SetState records that users with sessions on node are away, or are back.
func (s *Notifications) SetState(ctx context.Context, node string, state presence.State, users []string) error {
	return s.presence(ctx, users, func(p *partKeys, some []string) call {
		return stateScript.On(p).Arg("node", node).Arg("state", string(state)).List("users", some)
	})
}

// States reads the state of users, in order, a step for each 500 of a partition.
func (s *Notifications) States(ctx context.Context, users []string) ([]presence.User, error) {
	var calls []call
	var order [][]string
	for p, here := range s.byPartition(users) {
		for some := range slices.Chunk(here, rangeBatch) {
			calls, order = append(calls, ofScript.On(s.keys.part(p)).List("users", some)), append(order, some)
		}
	}
	replies, err := s.runReads(ctx, calls)
	if err != nil {
		return nil, err
	}
	found := make([]presence.User, 0, len(users))
	for i, r := range replies {
		for n, user := range order[i] {
			if state := r.text(1 + 2*n); state != "" {
				found = append(found, presence.User{User: user, State: presence.State(state), Since: chat.TimeMs(r.number(2 + 2*n))})
			}
		}
	}
	return found, nil
}

// Present lists all users who are present, each once, in steps of about 500.
func (s *Notifications) Present(ctx context.Context) ([]string, error) {
	users, cursors := map[string]struct{}{}, map[int]string{}
	for p := range s.partitions() {
		cursors[p] = "0"
	}
	for len(cursors) > 0 {
		var calls []call
		asked := slices.Sorted(maps.Keys(cursors))
		for _, p := range asked {
			calls = append(calls, presentScript.On(s.keys.part(p)).Arg("cursor", cursors[p]).Arg("limit", rangeBatch))
		}
		replies, err := s.runReads(ctx, calls)
		if err != nil {
			return nil, err
		}
		for i, p := range asked {
			if cursors[p] = replies[i].text(1); cursors[p] == "0" {
				delete(cursors, p)
			}
			for n := 2; n < len(replies[i]); n++ {
				users[replies[i].text(n)] = struct{}{}
			}
		}
	}
	return slices.Sorted(maps.Keys(users)), nil
}

// MemberIDs reads the members of a group, in no order.
func (s *Notifications) MemberIDs(ctx context.Context, group string) ([]string, error) {
	var ids *redis.StringSliceCmd
	if err := s.reads(ctx, func(pipe redis.Pipeliner) { ids = pipe.HKeys(ctx, s.keys.group(group).members()) }); err != nil {
		return nil, err
	}
	return ids.Val(), nil
}

// MembersAmong are those of users who are in the group, in order, 500 with each command.
func (s *Notifications) MembersAmong(ctx context.Context, group string, users []string) ([]string, error) {
	var in []string
	var found []*redis.SliceCmd
	for some := range slices.Chunk(users, rangeBatch*pipelineMax) {
		chunks := slices.Collect(slices.Chunk(some, rangeBatch))
		err := s.reads(ctx, func(pipe redis.Pipeliner) {
			found = found[:0]
			for _, chunk := range chunks {
				found = append(found, pipe.HMGet(ctx, s.keys.group(group).members(), chunk...))
			}
		})
		if err != nil {
			return nil, err
		}
		for i, chunk := range chunks {
			for n, value := range found[i].Val() {
				if value != nil {
					in = append(in, chunk[n])
				}
			}
		}
	}
	return in, nil
}

// Open records which users of a node have groups open, a step for each group, and tells who has them open on any node.
func (s *Notifications) Open(ctx context.Context, node string, openings []live.Opening, lasts time.Duration) ([]live.Here, error) {
	calls := make([]call, len(openings))
	for i, o := range openings {
		k := s.keys.group(o.Group)
		calls[i] = openScript.On(k).Arg("node", node).Arg("channel", k.channel()).Arg("lasts_ms", lasts.Milliseconds()).
			Arg("came", len(o.Came)).List("users", slices.Concat(o.Came, o.Went))
	}
	replies, errs, err := s.runAll(ctx, calls)
	if err = cmp.Or(err, firstError(errs)); err != nil {
		return nil, err
	}
	list := make([]live.Here, len(openings))
	for i, r := range replies {
		list[i] = live.Here{Group: openings[i].Group, Count: r.number(1), Users: []string{}}
		for n := 2; n < len(r); n++ {
			list[i].Users = append(list[i].Users, r.text(n))
		}
	}
	return list, nil
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

// Heartbeat renews node in each partition where it has users or open groups, and corrects the users recorded there. It returns how many
// nodes are alive in the partitions of these groups, in order.
func (s *Notifications) Heartbeat(ctx context.Context, node string, users, groups []string, lasts time.Duration) (alive []int64, err error) {
	var calls []call
	var asked []int
	parts := s.byPartition(users)
	opened := make([]bool, len(parts))
	for _, group := range groups {
		opened[s.keys.group(group).number] = true
	}
	for p, here := range parts {
		if len(here) > 0 || opened[p] {
			calls = append(calls, heartbeatScript.On(s.keys.part(p)).Arg("node", node).Arg("lasts_ms", lasts.Milliseconds()))
			asked = append(asked, p)
		}
	}
	replies, errs, err := s.runAll(ctx, calls)
	if err != nil {
		return nil, err
	}
	in := make([]int64, len(parts))
	for i, p := range asked {
		if errs[i] != nil {
			return nil, errs[i]
		}
		in[p] = replies[i].number(2)
		if replies[i].number(1) == int64(len(parts[p])) {
			continue
		}
		if err := s.putRight(ctx, node, p, parts[p], lasts); err != nil {
			return nil, err
		}
	}
	for _, group := range groups {
		alive = append(alive, in[s.keys.group(group).number])
	}
	return alive, nil
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
