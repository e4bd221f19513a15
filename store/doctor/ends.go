package doctor

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/expiry"
	"github.com/chatd/chatd/chat/stream"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/script"
)

var (
	endsScript       = newReader("ends", groupNames)
	fixEndsScript    = newScript("fix_ends", groupNames)
	streamsScript    = newReader("streams", groupNames)
	fixStreamsScript = newScript("fix_streams", groupNames)
)

// ends compares when messages of a group go with what they say, and looks for the task that deletes them. What was trimmed is no
// finding: the archive or a pin may have it, and otherwise the task forgets it when its time comes.
func (d *groups) ends(ctx context.Context, g groupKeys) error {
	err := d.parts(ctx, func(from int64) script.Call { return endsScript.On(g).Arg("from", from).Arg("limit", entriesStep) }, func(r script.Reply) error {
		for i := 4; i+2 < len(r); i += 3 {
			id, says := r.Text(i), r.Text(i+2)
			f := Finding{Kind: KindOrphan, Key: g.base + "expires", Message: "has an end of message " + id + ", which has none", Repair: "remove it"}
			switch at, ok := chat.ParseTime(says); {
			case !ok:
				f.fix = d.ending(g, id, "")
			case r.Number(i+1) != at.UnixMilli():
				f.Kind, f.Message, f.Repair = KindGroup, "has another end of message "+id+" than that says", "take it from the message"
				f.fix = d.ending(g, id, says)
			default:
				continue
			}
			if err := d.found(ctx, f); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return d.expires(ctx, g)
}

// ending corrects the end of a message, and the task that waits for it.
func (d *groups) ending(g groupKeys, id, says string) func(context.Context) error {
	at, _ := chat.ParseTime(says)
	return func(ctx context.Context) error {
		if _, err := d.run.do(ctx, fixEndsScript.On(g).Arg("id", id).Arg("says", says).Arg("at_ms", strconv.FormatInt(at.UnixMilli(), 10))); err != nil {
			return err
		}
		return d.settle(ctx, g)
	}
}

// settle has a task wait for the earliest end in a group.
func (d *groups) settle(ctx context.Context, g groupKeys) error {
	r, err := d.run.do(ctx, endsScript.On(g).Arg("from", 0).Arg("limit", 1))
	if err != nil {
		return err
	}
	if err := d.store.Settle(ctx, g.id, r.Text(1), nil); !errors.Is(err, chat.ErrNotFound) {
		return err
	}
	return nil
}

// expires checks that a task waits for the earliest end in a group.
func (d *groups) expires(ctx context.Context, g groupKeys) error {
	for range suspectTries {
		r, err := d.run.do(ctx, endsScript.On(g).Arg("from", 0).Arg("limit", 1))
		if err != nil || r.Text(2) == "" {
			return err
		}
		waits, known, err := d.followers.tasks.waitsFor(ctx, expiry.TaskExpire, g.id)
		switch {
		case err != nil:
			return err
		case !known:
			return d.followers.tasks.tooMany(ctx, g.id)
		case waits && r.Text(3) != "" && r.Number(3) <= r.Number(2):
			return nil
		}
	}
	return d.found(ctx, Finding{Kind: KindTask, Key: g.base + "expires", Message: "has messages that have to go, and no task that deletes them in time",
		Repair: "enqueue the task", fix: func(ctx context.Context) error { return d.settle(ctx, g) }})
}

// streams checks that each message that is being written has the task that ends it where its author is silent.
func (d *groups) streams(ctx context.Context, g groupKeys) error {
	r, err := d.run.do(ctx, streamsScript.On(g))
	if err != nil {
		return err
	}
	if r.Number(2) > 0 {
		if err := d.found(ctx, Finding{Kind: KindOrphan, Key: g.base + "streamed", Message: fmt.Sprintf("has %d pieces of messages that nobody is writing", r.Number(2)),
			Repair: "remove them", fix: d.runs(fixStreamsScript.On(g))}); err != nil {
			return err
		}
	}
	if len(r) > 3 && r.Number(1) == 0 {
		if err := d.found(ctx, Finding{Kind: KindGroup, Key: g.base + "streams", Message: "has messages that are being written, but the settings do not say so",
			Repair: "say so", fix: d.runs(fixStreamsScript.On(g))}); err != nil {
			return err
		}
	}
	for i := 3; i < len(r); i++ {
		if err := d.stream(ctx, g, r.Number(i)); err != nil {
			return err
		}
	}
	return nil
}

func (d *groups) stream(ctx context.Context, g groupKeys, id int64) error {
	f := Finding{Kind: KindTask, Key: g.base + "streams"}
	for range suspectTries {
		epoch, open, err := d.store.OpenStreams(ctx, g.id, id)
		if err != nil || len(open) == 0 {
			return err
		}
		task := fmt.Sprintf("p%02d-stream:%s:%s:%d", queue.Partition(g.id, d.keys.partitions), g.id, epoch, id)
		info, err := d.core.Get(ctx, task)
		switch {
		case err == nil && info.State == queue.Dead:
			f.Message = fmt.Sprintf("message %d is being written, and the task %s that would end it is dead: retry it with chatd tasks retry", id, task)
			continue
		case err == nil:
			return nil
		case !errors.Is(err, queue.ErrNotFound):
			return err
		}
		f.Message, f.Repair = fmt.Sprintf("message %d is being written, and has no task that would end it", id), "enqueue the task"
		f.fix = func(ctx context.Context) error {
			return d.enqueue(ctx, queue.Task{ID: task, Kind: stream.TaskCut, Delay: chat.StreamSilence}, stream.CutTask{Group: g.id, Epoch: epoch, ID: id})
		}
	}
	return d.found(ctx, f)
}
