package ship

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/chatd/chatd/client"
)

// MissingError means that a log no longer has messages that the reader has not seen, or that it is another log.
type MissingError struct {
	Group       string
	From, First int64 // the first id that is missing, and the first that is there
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("group %s no longer has the messages %d to %d: was the member passed by, or the log replaced?", e.Group, e.From, e.First-1)
}

const (
	logPage = 100
	logWait = 25 // seconds of a long poll
)

// groupLog reads one group in order from the member's `seen` on, which only ack moves.
type groupLog struct {
	client *client.Client
	group  string
	epoch  string
	at     client.Position // after the last message that next returned; empty: the member's seen
	last   int64           // id of that message
	acked  client.Position
	// skip are the positions in the other groups and the inbox, so that they end no poll twice.
	skip  map[string]client.Position
	inbox client.Position
}

func (l *groupLog) open(ctx context.Context) (client.GroupState, error) {
	g, err := l.client.Group(ctx, l.group)
	if err != nil {
		return client.GroupState{}, err
	}
	l.epoch, l.skip = g.Epoch, map[string]client.Position{}
	return g, nil
}

// next returns the messages that follow, nil if there are none.
func (l *groupLog) next(ctx context.Context) ([]client.Message, error) {
	b, err := l.client.Messages(ctx, l.group, client.Range{After: l.at, Limit: logPage})
	if err != nil {
		return nil, err
	}
	if !b.Complete && b.Epoch == l.epoch && l.at != "" {
		// What the member sent counts as seen, and may be trimmed before it is read here.
		if b, err = l.client.Messages(ctx, l.group, client.Range{Limit: logPage}); err != nil {
			return nil, err
		}
		b.Messages = slices.DeleteFunc(b.Messages, func(m client.Message) bool { return m.ID <= l.last })
	}
	if !b.Complete || b.Epoch != l.epoch {
		return nil, &MissingError{Group: l.group, From: l.last + 1, First: b.From}
	}
	if b.To > l.last {
		l.at, l.last = b.Cursor, b.To
	}
	for i := range b.Messages {
		b.Messages[i].Group = l.group
	}
	return b.Messages, nil
}

// rewind makes next go on after an id that it has returned before.
func (l *groupLog) rewind(id int64) { l.at, l.last = client.At(id), id }

// ack confirms everything that next returned.
func (l *groupLog) ack(ctx context.Context) error {
	if l.acked == l.at {
		return nil
	}
	if _, err := l.client.AckAt(ctx, l.group, l.at); err != nil {
		return err
	}
	l.acked = l.at
	return nil
}

// wait returns when the group may have grown, or after the given number of seconds.
func (l *groupLog) wait(ctx context.Context, seconds int) error {
	after := map[string]client.Position{}
	if l.at != "" {
		after[l.group] = l.at
	}
	for group, at := range l.skip {
		after[group] = at
	}
	began := time.Now()
	answer, err := l.client.Sync(ctx, client.SyncRequest{After: after, InboxAfter: l.inbox, Limit: 1, WaitS: seconds})
	if err != nil {
		return err
	}
	grew := false
	for _, b := range answer.Groups {
		if b.Group == l.group {
			grew = true
		} else {
			l.skip[b.Group] = b.Cursor
		}
	}
	for _, group := range answer.Left {
		delete(l.skip, group)
		if group == l.group {
			return nil // next says why
		}
	}
	if len(answer.Inbox.Items) > 0 {
		l.inbox = answer.Inbox.Cursor
	}
	asked := time.Duration(answer.NextPollS * float64(time.Second))
	if !grew && asked == 0 && time.Since(began) < time.Second {
		asked = time.Second // the server did not hold back the answer: do not spin
	}
	return sleep(ctx, asked)
}
