package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"github.com/chatd/chatd/internal/pgtest"
	"github.com/chatd/chatd/internal/redistest"
)

// riverDelayed compares how fast tasks run that are all due at the same time.
func riverDelayed(b *bench, pg *pgtest.Server, server *redistest.Server) error {
	var rates, peers, ratios []float64
	n := scaled(5_000)
	for round := range scaled(taskRounds) {
		p, err := newRiver(b.ctx, pg.Database(), taskWorkers)
		if err != nil {
			return err
		}
		took, err := b.riverDelayed(p, n)
		if err != nil {
			return err
		}
		peer := float64(n) / took.Seconds()
		e, err := b.ours(server.Addr, fmt.Sprint("delayed", round))
		if err != nil {
			return err
		}
		if took, err = b.ourDelayed(e.(*ours), n*oursMore); err != nil {
			return err
		}
		server.Do("FLUSHALL")
		rate := float64(n*oursMore) / took.Seconds()
		peers, rates, ratios = append(peers, peer), append(rates, rate), append(ratios, rate/peer)
	}
	b.table.count("River: delayed tasks that are due together, from the first to the last", "%s/s", spanned("%.0f", peers))
	b.table.add(row{"chatd: the same", spanned("%.0f", rates) + "/s", spanned("%.1f", ratios), "River"})
	return nil
}

func (b *bench) riverDelayed(e *riverEngine, n int) (time.Duration, error) {
	defer func() { _ = e.close() }()
	handled, due := newCounted(n), time.Now().Add(shorter(3*time.Second))
	like := river.InsertManyParams{Args: riverArgs{[]byte(taskPayload)}, InsertOpts: &river.InsertOpts{ScheduledAt: due}}
	if err := e.fillWith(b.ctx, n, like); err != nil {
		return 0, err
	}
	stop, err := e.run(taskWorkers, func([]byte) error { handled.add(1); return nil })
	if err != nil {
		return 0, err
	}
	defer stop()
	err = handled.wait(b.ctx)
	return time.Since(handled.began), err
}

// riverLateness measures how long after its time a delayed task begins. River looks for due jobs every five seconds; nothing
// that it exports shortens that.
func riverLateness(b *bench, pg *pgtest.Server, server *redistest.Server) error {
	p, err := newRiver(b.ctx, pg.Database(), taskWorkers)
	if err != nil {
		return err
	}
	a, err := b.ours(server.Addr, "late")
	if err == nil {
		err = latenessOf(b, "River", p)
	}
	if err == nil {
		err = latenessOf(b, "chatd", a)
	}
	return errors.Join(err, closeAll(a, p))
}

// onTheSecond is a schedule whose occurrences are the whole seconds, so that the time of each is known.
type onTheSecond struct{}

// Next is the first whole second after current.
func (onTheSecond) Next(current time.Time) time.Time {
	return current.Truncate(time.Second).Add(time.Second)
}

// riverPeriodic compares when the occurrences of tasks begin that come every second.
func riverPeriodic(b *bench, pg *pgtest.Server, server *redistest.Server) error {
	n, times := scaled(1000), max(scaled(10), 2)
	p, err := newRiver(b.ctx, pg.Database(), taskWorkers)
	if err != nil {
		return err
	}
	periodic := make([]*river.PeriodicJob, n)
	for i := range periodic {
		periodic[i] = river.NewPeriodicJob(onTheSecond{}, func() (river.JobArgs, *river.InsertOpts) { return riverArgs{fmt.Append(nil, i)}, nil }, nil)
	}
	late := newLateness(n * times)
	stop, err := p.runPeriodic(periodic, func([]byte) error {
		late.add(time.Since(time.Now().Truncate(time.Second)))
		return nil
	})
	if err == nil {
		err = late.wait(b.ctx)
		stop()
	}
	if err = errors.Join(err, p.close()); err != nil {
		return err
	}
	b.table.spread(fmt.Sprintf("River: lateness of %d tasks that come every second", n), late.by)
	return ourPeriodic(b, server, n, times)
}
