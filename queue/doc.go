// Package queue is a task queue on Redis: delayed tasks, four priorities, leases with fencing tokens, retries with
// backoff, deadlines, dead letters, unique keys, cancelling, progress. It depends on nothing else in chatd, only on
// go-redis and Redis 7.0 or later.
//
// A task is in exactly one place at any time: delayed, ready, leased, dead, or done and gone. Every move between them
// is one atomic script, so a crash of any process at any moment loses none. If a worker dies, another claims its task
// when the lease ends. So every task runs at least once, and handlers must be idempotent.
//
// A Client enqueues tasks into one queue, shows them and moves them, from any number of goroutines and processes. A
// Server runs the handlers of one or several queues; any number of servers, on any number of nodes, share a queue. Only
// the clock of Redis decides when a task is due and when a lease ends.
//
// Handlers are registered by kind, or by a prefix of kinds, with middleware around them: see Mux. Kind ties a kind to
// the Go type of its payloads.
//
// What a Task may ask for besides (Limit, Rate, Batch, Keep, Then) are its options: each is a package below option, and costs
// nothing where no task has it.
//
// A Periodic task enqueues a task at each of its occurrences, by a cron expression or an interval, without a leader.
//
// Scripts of other packages enqueue and cancel tasks in their own atomic step with EnqueueLua and CancelLua.
package queue
