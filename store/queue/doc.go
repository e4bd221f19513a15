// Package queue is a task queue on Redis: delayed tasks, four priorities, leases with
// fencing tokens, retries, dead letters.
package queue
