// Package queue is a task queue on Redis: delayed tasks, four priorities, leases with
// fencing tokens, retries with backoff, deadlines, dead letters, unique keys, cancelling,
// progress. It needs nothing of the rest of chatd, only go-redis and a Redis 7.0 or later.
//
// A task is in exactly one place at any time: delayed, ready, leased, dead, or done and
// gone. Every move between them is one atomic script, so a crash of anything at any moment
// loses none; a task whose worker fell silent is claimed by another when its lease ends.
// So every task runs at least once, and a handler has to make its effect happen once.
//
// A Client puts tasks into one queue, shows them and moves them, from any number of goroutines
// and processes. A Server runs handlers, of one queue or of several; any number of them, on any
// number of nodes, share a queue. The clock of Redis is the only one that decides when a task
// is due and when a lease ends.
//
// Scripts of other packages enqueue and cancel in their own atomic step with EnqueueLua and
// CancelLua.
package queue
