package doctor

import (
	"context"
	"fmt"
)

var trimScript = newReader("trim", groupNames)

// trimSlack is how many messages that nobody needs a log may hold: while nobody acks, only every 64th entry trims it.
const trimSlack = 64

// trim checks that a log still has everything that a member has not seen or that is kept for all, except for what became too old,
// and nothing else.
func (d *groups) trim(ctx context.Context, g groupKeys) error {
	var f Finding
	for range suspectTries {
		r, err := d.run.do(ctx, trimScript.On(g).Arg("group", g.id))
		if err != nil {
			return err
		}
		stored, kept, surplus, user, seen, before := r.Number(0), r.Number(1), r.Number(2), r.Text(3), r.Number(4), r.Number(5)
		f = Finding{Kind: KindLog, Key: g.base + "msgs"}
		switch {
		case surplus > trimSlack && r.Number(6) == 0:
			f.Message, f.Repair = fmt.Sprintf("holds %d messages that nobody needs anymore", surplus), "trim the log"
			f.fix = func(ctx context.Context) error { return d.trimAll(ctx, g.id) }
			continue
		case before <= r.Number(7): // because of its age, seen or not
			return nil
		case user != "" && seen < before:
			f.Message = fmt.Sprintf("begins after %d, but %s has only seen messages up to %d", before, user, seen)
		case stored < kept:
			f.Message = fmt.Sprintf("holds %d messages, but must keep %d", stored, kept)
		default:
			return nil
		}
		// Messages that were trimmed under earlier settings are no finding. The notice of the change stays in the log
		// until it is trimmed under the new ones.
		if changed, err := d.log(ctx, g); err != nil || changed {
			return err
		}
	}
	return d.found(ctx, f)
}

func (d *groups) trimAll(ctx context.Context, group string) error {
	for more := true; more; {
		var err error
		if more, err = d.store.Trim(ctx, group); err != nil {
			return err
		}
	}
	return nil
}
