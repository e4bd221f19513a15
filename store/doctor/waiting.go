package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue"
)

// taskList tells which tasks wait or run: what they settle is no finding yet.
type taskList struct {
	*exam
	first map[string]bool // see waitsFor
}

// waits reports whether a task is waiting that updates a user's entry for a group in the index. known: that could be
// determined.
func (d *taskList) waits(ctx context.Context, user, group string) (waits, known bool, err error) {
	return d.waiting(ctx, func(info queue.Info) bool { return settles(info, user, group) })
}

// waiting reports whether a wanted task is waiting or running. known: that could be determined.
func (d *taskList) waiting(ctx context.Context, wanted func(queue.Info) bool) (waits, known bool, err error) {
	read := 0
	// Twice: a task may return to a state that was read before.
	for _, state := range []queue.State{queue.Delayed, queue.Ready, queue.Leased, queue.Delayed, queue.Ready, queue.Leased} {
		for cursor := ""; ; {
			infos, next, err := d.core.List(ctx, queue.ListQuery{State: state, Cursor: cursor, Limit: keysStep})
			if err != nil {
				return false, false, err
			}
			if slices.ContainsFunc(infos, wanted) {
				return true, true, nil
			}
			if read += len(infos); read > pendingMax {
				return false, false, nil
			}
			if cursor = next; next == "" {
				break
			}
		}
	}
	return false, true, nil
}

func settles(info queue.Info, user, group string) bool {
	var p struct {
		Group string   `json:"group"`
		Users []string `json:"users"`
	}
	if info.Kind != chat.TaskMember && info.Kind != chat.TaskCleanup || json.Unmarshal(info.Payload, &p) != nil {
		return false
	}
	return p.Group == group && (info.Kind == chat.TaskCleanup || slices.Contains(p.Users, user))
}

// waitsFor reports whether a task of a kind waits or runs for a group. Those that were there when it was first asked are
// read once: while a database is away, every group may have one.
func (d *taskList) waitsFor(ctx context.Context, kind, group string) (waits, known bool, err error) {
	if d.first == nil {
		tasks := map[string]bool{}
		if _, _, err := d.waiting(ctx, func(info queue.Info) bool {
			tasks[info.Kind+" "+groupOf(info)] = true
			return false
		}); err != nil {
			return false, false, err
		}
		d.first = tasks
	}
	if d.first[kind+" "+group] {
		return true, true, nil
	}
	return d.waiting(ctx, func(info queue.Info) bool { return info.Kind == kind && groupOf(info) == group })
}

// groupOf returns the group that a task is about.
func groupOf(info queue.Info) string {
	var t chat.GroupTask
	_ = json.Unmarshal(info.Payload, &t) // the engine buries a task that cannot be read
	return t.Group
}

// tooMany reports that something cannot be checked.
func (d *taskList) tooMany(ctx context.Context, group string) error {
	return d.found(ctx, Finding{Kind: KindUnchecked, Key: d.keys.part(queue.Partition(group, d.keys.partitions)) + "q:" + chat.QueueCore + ":tasks",
		Message: "has too many waiting tasks to tell which differences they will settle; run the doctor again later"})
}

// removes tells whether a task is to remove the bytes of a file. It is in the partition of the group, which need not be the one
// that the id ends with: the store may have had another number of them.
func (d *taskList) removes(ctx context.Context, id string) (bool, error) {
	words := strings.SplitN(id, "-", 3)
	if len(words) < 2 {
		return false, nil
	}
	for p := range d.store.Partitions() {
		_, err := d.core.Get(ctx, fmt.Sprintf("p%02d-file:%s-%s", p, words[0], words[1]))
		if !errors.Is(err, queue.ErrNotFound) {
			return err == nil, err
		}
	}
	return false, nil
}
