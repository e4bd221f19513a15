package dump

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store/layout"
)

// subject is what the payload of a task says of where it goes.
type subject struct {
	Group, User, Erasure, Schedule, Webhook string

	Users []json.RawMessage
	Body  struct{ Data struct{ Group string } }
}

// learnTask notes where a task goes.
func (r *repartition) learnTask(id, spec string) error {
	kind, payload, ok := readTask(spec)
	if !ok {
		return nil // it cannot be read: the engine turns it into a dead letter wherever it is
	}
	if strings.HasPrefix(kind, queue.KindPeriodic) {
		_, periodic, _ := strings.Cut(id, "-periodic-")
		r.settle(id, r.home(periodic))
		return nil
	}
	var s subject
	if err := json.Unmarshal([]byte(payload), &s); err != nil && kind != webhook.TaskDeliver {
		return nil
	}
	row, ok := layout.Tasks[kind]
	if !ok {
		return fmt.Errorf("a task of the kind %s: this chatd does not know to which partition it goes; import the file with the number that it has, %d",
			kind, r.from)
	}
	h := home{partition: dropped}
	switch row.Home {
	case layout.WithSchedule, layout.WithErasure:
		if owner := cmp.Or(s.Schedule, s.Erasure); !strings.HasPrefix(id, owner+".") {
			r.follows[digestOf(id)] = owner
			r.note(noteBytes + len(owner))
		}
		return nil
	case layout.WithPart: // made again
	case layout.AtFirst:
		h.partition = 0
	case layout.AtKind:
		h = r.home(kind)
	case layout.WithUser:
		h = r.home(s.User)
	case layout.WithGroupOrInbox:
		h = r.home(cmp.Or(s.Group, s.User))
	case layout.WithGroupOrUser:
		var first notify.Recipient
		if len(s.Users) > 0 {
			_ = json.Unmarshal(s.Users[0], &first)
		}
		h = r.home(cmp.Or(s.Group, first.User))
	case layout.WithGroupOrWebhook:
		h = r.home(cmp.Or(s.Body.Data.Group, s.Webhook))
	case layout.WithGroup:
		h = r.home(s.Group)
	}
	if strings.Contains(id, "~") {
		h.bytes = int32(len(spec)) //nolint:gosec // at most 1 MiB and a line
	}
	r.settle(id, h)
	return nil
}

// rewrittenTask makes a task name the new id of its schedule or erasure. Whatever else its payload holds stays.
func (r *repartition) rewrittenTask(spec string) string {
	kind, payload, _ := readTask(spec)
	name := map[layout.Home]string{layout.WithSchedule: "schedule", layout.WithErasure: "erasure"}[layout.Tasks[kind].Home]
	if name == "" {
		return spec
	}
	var s subject
	if json.Unmarshal([]byte(payload), &s) != nil {
		return spec
	}
	old := cmp.Or(s.Schedule, s.Erasure)
	id, _ := r.renamed(old)
	head := strings.TrimSuffix(spec, payload)
	return head + strings.Replace(payload, fmt.Sprintf("%q:%q", name, old), fmt.Sprintf("%q:%q", name, id), 1)
}

// readTask reads a specification: see queue/docs/reference.md.
func readTask(spec string) (kind, payload string, ok bool) {
	head, payload, ok := strings.Cut(spec, "\n")
	fields := strings.SplitN(head, " ", 7)
	if !ok || len(fields) < 7 {
		return "", "", false
	}
	return fields[5], payload, true
}

// newTask writes a specification of a task that may run at once.
func newTask(priority, kind, payload string, atMs int64) string {
	if p, err := queue.ParsePriority(priority); err != nil {
		priority = queue.Normal.String()
	} else {
		priority = p.String()
	}
	return fmt.Sprintf("%s 0 0 %d %d %s \n%s", priority, atMs, atMs, kind, payload)
}
