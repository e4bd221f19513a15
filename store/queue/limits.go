package queue

import "time"

// What bounds the engine. Options may lower or raise the first group.
const (
	workersDefault     = 16
	leaseDefault       = 15 * time.Second // how long a dead worker's tasks wait for another
	attemptsMaxDefault = 10
	crashesMaxDefault  = 5 // a task that kills its workers is buried after that many
	backoffMinDefault  = time.Second
	backoffMaxDefault  = 10 * time.Minute
	stopTimeoutDefault = 5 * time.Second
	deadMaxDefault     = 10_000 // dead letters kept in each partition, the newest

	// claimMax bounds one claim, so that one node cannot empty a queue in front of the others.
	claimMax = 128
	// aheadTime and aheadMax bound what is claimed beyond the free workers: what they do in so
	// long, and so many. aheadPatience is when what has not begun yet is given back.
	aheadTime, aheadMax = time.Millisecond, 256
	aheadPatience       = 20 * time.Millisecond
	// rateEvery is the shortest time over which the workers' rate is measured.
	rateEvery = time.Millisecond
	// overdueMax bounds what one step promotes and takes back: a script of a few hundred
	// tasks still ends within a millisecond or two.
	overdueMax = 200
	// settleMax and enqueueMax bound the tasks of one script for the same reason.
	settleMax  = 256
	enqueueMax = 256
	// payloadBytesMax bounds what a task carries, and enqueueBytesMax, but for one task, the
	// payloads of one script: Redis holds a call as a whole, and closes the connection at 1 GiB.
	payloadBytesMax, enqueueBytesMax = 1 << 20, 1 << 20
	// commitAlone is how many callers of Enqueue may be inside before they are joined;
	// commitFlushes is how many calls to Redis there are then.
	commitAlone, commitFlushes = 8, 2
	// pollMax is the longest sleep: what a lost wake-up costs at most.
	pollMax = time.Second
	// stopGrace is what a handler gets to return after its context has ended.
	stopGrace = time.Second
	// errorPause is the first pause after a failed call to Redis; it doubles up to pollMax.
	errorPause = 50 * time.Millisecond
	// errorBytesMax is how much of a handler's error is kept.
	errorBytesMax = 1024
	// nameBytesMax bounds a kind, a unique key and an id: they are names, not content.
	nameBytesMax = 256
	// pauseMax is the longest snooze and the longest pause that a handler may ask for.
	pauseMax = 30 * 24 * time.Hour
	// reportEvery is how often an unknown kind is logged; reportedMax bounds the kinds that are remembered for it.
	reportEvery, reportedMax = time.Minute, 1000
	// listDefault and listMax bound a page of tasks.
	listDefault, listMax = 100, 1000
	// msMax is the highest time that a script counts exactly (Lua's numbers are doubles), less
	// what may be added to it.
	msMax = 1<<53 - 1<<42
)
