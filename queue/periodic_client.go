package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Periodic declares a periodic task of the server's first queue; Run writes it. Servers with the same declaration do
// nothing then, and one with another takes over: the newest wins. A periodic task whose declaration was removed from the
// code goes on until Client.DeletePeriodic ends it. ErrInvalid: the error says what is wrong. Call it before Run.
func (s *Server) Periodic(p Periodic) error {
	if s.ran.Load() {
		return errors.New("queue: Periodic was called after Run: use PutPeriodic")
	}
	if err := p.check(); err != nil {
		return err
	}
	s.periodic = append(s.periodic, p)
	return nil
}

// declare writes the periodic tasks of the server, as soon as Redis can be reached.
func (s *Server) declare(ctx context.Context) {
	_ = s.insist(ctx, "cannot declare periodic tasks, retrying", func() error { return s.putPeriodic(ctx, s.periodic) })
}

// Periodics are the periodic tasks of a queue. A Client has them: call their methods on it.
type Periodics struct{ *access }

// PutPeriodic declares a periodic task in the queue of the client. If it is declared like this already, nothing happens.
// If it is declared differently, this declaration replaces the other in one step: a planned occurrence stays if the
// times are the same, else the next one after now is planned. A paused one stays paused. ErrInvalid: the error says what
// is wrong. Any other error leaves unknown whether it was written; repeating the call is harmless.
func (c *Periodics) PutPeriodic(ctx context.Context, p Periodic) error {
	if err := p.check(); err != nil {
		return err
	}
	return c.putPeriodic(ctx, []Periodic{p})
}

// putPeriodic declares checked periodic tasks.
func (c *Periodics) putPeriodic(ctx context.Context, all []Periodic) error {
	for some := range slices.Chunk(all, enqueueMax) {
		if err := c.putSome(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

// putSome is putPeriodic for as many as one call takes, in two round trips, or one if all are declared already.
func (c *Periodics) putSome(ctx context.Context, all []Periodic) error {
	if err := c.checkPartitions(ctx); err != nil {
		return fmt.Errorf("queue: periodic: %w", err)
	}
	reads := make([]*call, len(all))
	for i := range all {
		reads[i] = c.periodicRead(all[i].ID)
	}
	if err := run(ctx, c.rdb, reads); err != nil {
		return fmt.Errorf("queue: periodic: %w", err)
	}
	puts := make([]*call, 0, len(all))
	for i := range all {
		now, _, found, err := readPeriodic(reads[i])
		if err != nil {
			return err
		}
		var was storedPeriodic
		if len(found) > 0 {
			was = found[0]
		}
		one, err := c.periodicPut(&all[i], now, was.lastMs, false)
		if err != nil {
			return err
		}
		puts = append(puts, one)
	}
	if err := run(ctx, c.rdb, puts); err != nil {
		return fmt.Errorf("queue: periodic: %w", err)
	}
	return nil
}

// periodicAt returns where a periodic task is, and the id of the task that fires it.
func (c *Periodics) periodicAt(name string) (partition int, id string) {
	partition = Partition(name, c.partitions)
	return partition, tag(partition) + "-periodic-" + name
}

func (c *Periodics) periodicRead(name string) *call {
	p, _ := c.periodicAt(name)
	return &call{Call: periodicListScript.On(nil).Key("periodic", c.keys[p].Of("periodic")).Arg("after", "").Arg("limit", 1).
		List("names", []string{name})}
}

// periodicPut plans the first occurrence after now, and after the last one that was fired.
func (c *Periodics) periodicPut(p *Periodic, nowMs, lastMs int64, resume bool) (*call, error) {
	times, err := p.plan().calendar()
	if err != nil {
		return nil, fmt.Errorf("%w: periodic task %q: %w", ErrInvalid, p.ID, err)
	}
	next, ok := times.Next(time.UnixMilli(max(nowMs, lastMs)))
	if !ok {
		return nil, fmt.Errorf("%w: periodic task %q: Cron %q never comes", ErrInvalid, p.ID, p.Cron)
	}
	at, id := c.periodicAt(p.ID)
	return &call{Call: periodicPutScript.On(c.work[at]).Key("periodic", c.keys[at].Of("periodic")).Arg("name", p.ID).Arg("id", id).
		Arg("declared", p.declaration()).Arg("next_ms", next.UnixMilli()).Arg("resume", resume)}, nil
}

// storedPeriodic is one answer of periodic_list.lua.
type storedPeriodic struct {
	name, declared                    string
	paused, lastMs, nextMs, firedOnce int64
}

func readPeriodic(one *call) (nowMs, left int64, found []storedPeriodic, err error) {
	values, err := one.cmd.Slice()
	if err != nil {
		return 0, 0, nil, fmt.Errorf("queue: periodic: %w", err)
	}
	bad := fmt.Errorf("queue: periodic: unexpected answer %.200v", values)
	if len(values)%6 != 2 {
		return 0, 0, nil, bad
	}
	nowMs, okNow := values[0].(int64)
	left, okLeft := values[1].(int64)
	for i := 2; i < len(values); i += 6 {
		s := storedPeriodic{}
		var ok [6]bool
		s.name, ok[0] = values[i].(string)
		s.declared, ok[1] = values[i+1].(string)
		for j, to := range []*int64{&s.paused, &s.lastMs, &s.nextMs, &s.firedOnce} {
			*to, ok[2+j] = values[i+2+j].(int64)
		}
		if ok != [6]bool{true, true, true, true, true, true} {
			return 0, 0, nil, bad
		}
		found = append(found, s)
	}
	if !okNow || !okLeft {
		return 0, 0, nil, bad
	}
	return nowMs, left, found, nil
}

func (c *Periodics) periodicInfo(s storedPeriodic) (PeriodicInfo, error) {
	p, err := parseDeclaration(s.declared)
	if err != nil {
		return PeriodicInfo{}, fmt.Errorf("queue: periodic task %q: %w", s.name, err)
	}
	i := PeriodicInfo{Periodic: p, Queue: c.name, Paused: s.paused == 1, Fired: s.firedOnce}
	if s.lastMs > 0 {
		i.Last = time.UnixMilli(s.lastMs)
	}
	if s.nextMs > 0 {
		i.Next = time.UnixMilli(s.nextMs)
	}
	return i, nil
}

// GetPeriodic returns one periodic task, or ErrNotFound.
func (c *Periodics) GetPeriodic(ctx context.Context, id string) (PeriodicInfo, error) {
	_, info, err := c.getPeriodic(ctx, id)
	return info, err
}

func (c *Periodics) getPeriodic(ctx context.Context, id string) (nowMs int64, info PeriodicInfo, err error) {
	if checkPeriodicID(id) != nil {
		return 0, info, ErrNotFound
	}
	one := c.periodicRead(id)
	if err := c.run(ctx, []*call{one}); err != nil {
		return 0, info, fmt.Errorf("queue: periodic: %w", err)
	}
	nowMs, _, found, err := readPeriodic(one)
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return 0, info, err
	}
	info, err = c.periodicInfo(found[0])
	return nowMs, info, err
}

// ListPeriodic returns a page of the periodic tasks, partition by partition, in the order of their IDs within each: at
// most limit of them (0 = 100, at most 1,000), from the position after. next is the position of the next page, empty
// after the last one. A page may be short with more to come.
func (c *Periodics) ListPeriodic(ctx context.Context, after string, limit int) (infos []PeriodicInfo, next string, err error) {
	if limit <= 0 {
		limit = listDefault
	}
	limit = min(limit, listMax)
	p := 0
	if after != "" {
		if checkPeriodicID(after) != nil {
			return nil, "", fmt.Errorf("%w: position %q", ErrInvalid, after)
		}
		p, _ = c.periodicAt(after)
	}
	for ; p < c.partitions; p, after = p+1, "" {
		one := &call{Call: periodicListScript.On(nil).Key("periodic", c.keys[p].Of("periodic")).Arg("after", after).
			Arg("limit", limit-len(infos)).List("names", nil)}
		if err := c.run(ctx, []*call{one}); err != nil {
			return nil, "", fmt.Errorf("queue: periodic: %w", err)
		}
		_, left, found, err := readPeriodic(one)
		if err != nil {
			return nil, "", err
		}
		for _, s := range found {
			info, err := c.periodicInfo(s)
			if err != nil {
				return nil, "", err
			}
			infos = append(infos, info)
		}
		if len(infos) == limit && (left > 0 || p+1 < c.partitions) {
			return infos, infos[len(infos)-1].ID, nil
		}
	}
	return infos, "", nil
}

// DeletePeriodic ends a periodic task. Occurrences that were enqueued stay. ErrNotFound: there is none.
func (c *Periodics) DeletePeriodic(ctx context.Context, id string) error {
	return c.stopPeriodic(ctx, id, false)
}

// PausePeriodic lets no occurrence be enqueued until ResumePeriodic; those that were enqueued run. Servers that start
// with its declaration do not end the pause. ErrNotFound: there is none.
func (c *Periodics) PausePeriodic(ctx context.Context, id string) error {
	return c.stopPeriodic(ctx, id, true)
}

func (c *Periodics) stopPeriodic(ctx context.Context, name string, pause bool) error {
	if checkPeriodicID(name) != nil {
		return ErrNotFound
	}
	p, id := c.periodicAt(name)
	one := &call{Call: periodicStopScript.On(c.work[p]).Key("periodic", c.keys[p].Of("periodic")).Arg("name", name).Arg("id", id).
		Arg("pause", pause)}
	if err := c.run(ctx, []*call{one}); err != nil {
		return fmt.Errorf("queue: periodic: %w", err)
	}
	n, err := one.cmd.Int64()
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	return err
}

// ResumePeriodic ends a pause: the next occurrence is the first after now. It has no effect on one that is not paused.
// ErrNotFound: there is none.
func (c *Periodics) ResumePeriodic(ctx context.Context, id string) error {
	for {
		now, info, err := c.getPeriodic(ctx, id)
		if err != nil {
			return err
		}
		one, err := c.periodicPut(&info.Periodic, now, msOf(info.Last), true)
		if err != nil {
			return err
		}
		if err := c.run(ctx, []*call{one}); err != nil {
			return fmt.Errorf("queue: periodic: %w", err)
		}
		if n, err := one.cmd.Int64(); err != nil || n >= 0 {
			return err
		} // else it has changed meanwhile
	}
}

// RunPeriodic enqueues an occurrence now, beside the plan, also of a paused one, and returns the id of its task. The
// plan stays as it is. It enqueues nothing, and returns ErrConflict, if a task with the same Unique waits. ErrNotFound:
// there is none.
func (c *Client) RunPeriodic(ctx context.Context, id string) (task string, err error) {
	_, info, err := c.getPeriodic(ctx, id)
	if err != nil {
		return "", err
	}
	t := info.task()
	p, _ := c.periodicAt(id)
	t.ID = strings.Replace(NewID(p), "-", "-"+id+"@", 1)
	_, ok, err := c.Enqueue(ctx, t)
	if err == nil && !ok {
		err = ErrConflict
	}
	return t.ID, err
}

// firePeriodic is the handler of the tasks that fire periodic ones.
func (s *Server) firePeriodic(ctx context.Context, t Task) error {
	r, ok := ctx.Value(runKey{}).(*running)
	if !ok {
		return errNoRun
	}
	var p plan
	if err := json.Unmarshal(t.Payload, &p); err != nil {
		return Bury(fmt.Errorf("plan of a periodic task: %w", err))
	}
	f, err := p.fire(t.Due, time.UnixMilli(r.claimedMs), 2*s.o.Lease)
	if err != nil {
		return err // it was valid when it was declared: this node's tz database does not have the zone
	}
	return f
}
