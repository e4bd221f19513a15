package queuetest

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/queue"
)

// listedMax is how many tasks a failed test shows, and shownBytes how much of each payload.
const listedMax, shownBytes = 50, 120

// Lister lists the tasks of a queue: a queue.Client or a queue.Server.
type Lister interface {
	List(ctx context.Context, q queue.ListQuery) (infos []queue.Info, next string, err error)
}

// RequireEnqueued returns the first task that waits in the queue, ready or delayed, and is like want. Without one, the
// test fails and shows what waits instead.
//
// What want leaves at zero is not compared; it may set ID, Kind, Payload, Priority, Due, Delay (from when it was
// enqueued until it is due), AttemptsMax and Deadline, and the test fails if it sets anything else.
func RequireEnqueued(t testing.TB, c Lister, want queue.Task) queue.Info {
	t.Helper()
	waiting := waits(t, c)
	for _, info := range waiting {
		if like(t, info, want) {
			return info
		}
	}
	t.Fatalf("queuetest: no task like %s waits; %s", describe(want), show(waiting))
	return queue.Info{}
}

// RequireNotEnqueued fails the test if a task like want waits in the queue, ready or delayed. queue.Task{} is like
// every task.
func RequireNotEnqueued(t testing.TB, c Lister, want queue.Task) {
	t.Helper()
	waiting := waits(t, c)
	for _, info := range waiting {
		if like(t, info, want) {
			t.Fatalf("queuetest: a task like %s waits: %s", describe(want), show(waiting))
		}
	}
}

// waits lists the ready and the delayed tasks, except those of the engine that fire periodic tasks.
func waits(t testing.TB, c Lister) (all []queue.Info) {
	t.Helper()
	for _, state := range []queue.State{queue.Ready, queue.Delayed} {
		q := queue.ListQuery{State: state}
		for more := true; more; more = q.Cursor != "" {
			page, next, err := c.List(context.Background(), q)
			if err != nil {
				t.Fatalf("queuetest: %v", err)
			}
			page = slices.DeleteFunc(page, func(info queue.Info) bool { return strings.HasPrefix(info.Kind, queue.KindPeriodic) })
			all, q.Cursor = append(all, page...), next
		}
	}
	return all
}

// like reports whether a task is as wanted.
func like(t testing.TB, got queue.Info, want queue.Task) bool {
	t.Helper()
	rest := want
	rest.ID, rest.Kind, rest.Payload, rest.Priority, rest.AttemptsMax = "", "", nil, 0, 0
	rest.Due, rest.Deadline, rest.Delay = time.Time{}, time.Time{}, 0
	if !reflect.ValueOf(rest).IsZero() {
		t.Fatalf("queuetest: only ID, Kind, Payload, Priority, Due, Delay, AttemptsMax and Deadline are compared, not all of %+v", want)
	}
	return (want.ID == "" || got.ID == want.ID) &&
		(want.Kind == "" || got.Kind == want.Kind) &&
		(want.Payload == nil || bytes.Equal(got.Payload, want.Payload)) &&
		(want.Priority == queue.Normal || got.Priority == want.Priority) &&
		(want.AttemptsMax == 0 || got.AttemptsMax == want.AttemptsMax) &&
		(want.Due.IsZero() || sameMs(got.Due, want.Due)) &&
		(want.Deadline.IsZero() || sameMs(got.Deadline, want.Deadline)) &&
		(want.Delay == 0 || sameMs(got.Due, got.Enqueued.Add(want.Delay)))
}

// sameMs compares times as a queue stores them, rounded up to ms.
func sameMs(got, want time.Time) bool {
	return got.UnixMilli() == want.Add(time.Millisecond-time.Nanosecond).UnixMilli()
}

// describe names what a wanted task sets.
func describe(want queue.Task) string {
	var set []string
	v := reflect.ValueOf(want)
	for i := range v.NumField() {
		switch field := v.Field(i); {
		case field.IsZero(), !v.Type().Field(i).IsExported():
		case v.Type().Field(i).Name == "Payload":
			set = append(set, fmt.Sprintf("Payload: %.*q", shownBytes, want.Payload))
		default:
			set = append(set, fmt.Sprintf("%s: %v", v.Type().Field(i).Name, field.Interface()))
		}
	}
	return "{" + strings.Join(set, ", ") + "}"
}

// show lists tasks, one a line.
func show(infos []queue.Info) string {
	if len(infos) == 0 {
		return "nothing waits"
	}
	var lines strings.Builder
	fmt.Fprintf(&lines, "%d wait:", len(infos))
	for i, info := range infos {
		if i == listedMax {
			fmt.Fprintf(&lines, "\n\tand %d more", len(infos)-i)
			break
		}
		fmt.Fprintf(&lines, "\n\t%s %s %s, %s priority, payload %.*q", info.State, info.Kind, info.ID, info.Priority, shownBytes, info.Payload)
		if info.State == queue.Delayed {
			fmt.Fprintf(&lines, ", due %v after it was enqueued", info.Due.Sub(info.Enqueued))
		}
		if info.LastError != "" {
			fmt.Fprintf(&lines, ", failed %d times: %s", info.Attempts, info.LastError)
		}
	}
	return lines.String()
}
