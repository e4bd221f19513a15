package ship

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chatd/chatd/client"
)

const (
	// After the end mark, a processor stays while others post results. It waits for quietMax while someone is at work on a part,
	// and for idleMax for those who have not begun, or who have acked the end mark and do not mark it as read: they may be no
	// processors at all.
	quietMax = 30 * time.Second
	idleMax  = 5 * time.Second

	waitingFirst = 3 * time.Second // until a processor says for the first time what it waits for
	waitingEvery = 10 * time.Second
)

// waiting says what is waited for, after a moment and then repeatedly.
type waiting struct {
	notice func(string)
	next   time.Time // when to say it; zero: nothing is waited for
}

func (w *waiting) still(text string) {
	switch now := time.Now(); {
	case w.next.IsZero():
		w.next = now.Add(waitingFirst)
	case now.After(w.next):
		w.next = now.Add(waitingEvery)
		w.notice(text)
	}
}

func (w *waiting) over() { w.next = time.Time{} }

// postOrKeep posts the pending results, or keeps them safely. It waits only if there are too many.
func (p *processor) postOrKeep(ctx context.Context) error {
	for failures := 0; ; failures++ {
		if err := p.post(ctx); err != nil || len(p.state.Pending) <= pendingMax {
			return err
		}
		if err := sleep(ctx, shipBackoff.Delay(failures, 0)); err != nil {
			return err
		}
	}
}

// post posts the pending results in order, as far as the group takes them. The state is saved with the next ack, or at the end.
func (p *processor) post(ctx context.Context) error {
	for len(p.state.Pending) > 0 {
		r := p.state.Pending[0]
		data, err := json.Marshal(shipped{Result: &resultData{Ship: r.Ship, Number: r.Number, Text: r.Text}})
		if err != nil {
			return err
		}
		draft := client.Draft{Kind: client.KindData, Data: data, ReplyTo: r.ID, ClientID: retryKey("result", p.log.epoch, r.ID)}
		_, err = p.client.Send(ctx, p.opts.Group, draft)
		var full *client.Error
		if errors.As(err, &full) && full.Code == client.CodeBacklogFull {
			p.waiting.still(p.blockedBy(full.Blockers))
			return nil
		}
		// With another text it was posted before a crash, and the handler has run again since.
		if err != nil && client.CodeOf(err) != client.CodeKeyReused {
			return err
		}
		p.state.Pending, p.state.dirty = p.state.Pending[1:], true
		p.waiting.over()
	}
	return nil
}

// blockedBy says why results cannot be posted, and what to do.
func (p *processor) blockedBy(blockers []client.Blocker) string {
	names := make([]string, len(blockers))
	for i, b := range blockers {
		names[i] = fmt.Sprintf("%s (%d messages behind)", b.User, b.Behind)
	}
	return fmt.Sprintf("%d results wait, because the group is full until it is read by %s: start these members' programs, raise backlog_max of the group, or remove them from it",
		len(p.state.Pending), strings.Join(names, ", "))
}

// markRead tells the other members that this one has finished a shipment: it will post nothing more of it.
func (p *processor) markRead(ctx context.Context) error {
	if p.state.First == 0 || p.marked == p.state.End || len(p.state.Pending) > 0 {
		return nil
	}
	if _, err := p.client.Read(ctx, p.opts.Group, p.state.End); err != nil {
		return err
	}
	p.marked = p.state.End
	return nil
}

// othersFinished reports whether no more results can come, after the end mark. While they are, acking them here keeps the
// group empty.
func (p *processor) othersFinished(ctx context.Context) (bool, error) {
	if len(p.state.Pending) > 0 {
		return false, nil
	}
	if p.state.First == 0 {
		return true, nil
	}
	end, err := p.client.Receipts(ctx, p.opts.Group, p.state.End, client.Page{Limit: receiptsPage})
	if err != nil || end.Read >= end.Members {
		return err == nil, err
	}
	first, err := p.client.Receipts(ctx, p.opts.Group, p.state.First, client.Page{Limit: 1})
	if err != nil {
		return false, err
	}
	quiet := idleMax
	// If the first part is trimmed, its receipts include the shipper, who has seen it.
	if begun := first.Seen - (first.Members - end.Members); begun > end.Seen {
		quiet = quietMax
	}
	if time.Since(p.grown) > quiet {
		return true, nil
	}
	if len(end.Pending) > 0 {
		p.waiting.still(fmt.Sprintf("all parts are processed; taking the results of others until they have finished, or none has come for %v: %s; interrupt it to end now",
			quiet, strings.Join(end.Pending, ", ")))
	}
	return false, nil
}
