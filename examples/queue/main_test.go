package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/store/queue"
	"github.com/chatd/chatd/store/queue/queuetest"
)

func TestEveryFeatureWorks(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out bytes.Buffer
	if err := start(ctx, "", &out); err != nil {
		t.Fatalf("%v, after\n%s", err, out.String())
	}
	for _, want := range []string{
		"the same order again: enqueued false",
		"cancelled a delayed task",
		"mail.invoice is dead: the post office is closed; once more",
		"posted mail.invoice",
		"wait was interrupted: context deadline exceeded",
		"confirmed order 7 of Ada, attempt 1, high priority",
		"shipped order 7, 0 failed attempts",
		"digest comes next on a Monday",
		"posted mail.digest",
		"mail: 8 enqueued, 4 done, 2 dead, 2 deleted",
		"store: 1 enqueued, 1 done",
		"shipping was snoozed 1 time",
	} {
		if !strings.Contains(out.String(), want+"\n") {
			t.Errorf("no line %q in\n%s", want, out.String())
		}
	}
}

// A test of one handler, without waiting for the delay.
func TestOrderIsConfirmedAfterItsDelay(t *testing.T) {
	t.Parallel()
	r := queuetest.New(t)
	o := r.Options("mail")
	o.Queues = []queue.QueueOptions{{Name: "mail"}, {Name: "store"}}
	server, err := queue.New(o)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s := &shop{server: server, out: &out}
	s.handle()
	task, err := Confirm.Task(Order{8, "Grace"}, queue.Task{Delay: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := server.Enqueue(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	queuetest.RequireEnqueued(t, server, task)
	r.Advance(time.Hour)
	if runs := r.RunAll(t.Context(), server); runs != 1 || out.String() != "confirmed order 8 of Grace, attempt 1, normal priority\n" {
		t.Errorf("%d runs: %s", runs, out.String())
	}
}
