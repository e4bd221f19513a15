package queue

import (
	"time"

	"github.com/chatd/chatd/queue/option"
)

// PartitionsMax is the most partitions that a queue may have.
const PartitionsMax = 1024

// The bounds of the engine. Options may lower or raise the first group.
const (
	workersDefault     = 16
	leaseDefault       = 15 * time.Second // how long a dead worker's tasks wait for another worker
	attemptsMaxDefault = 10
	crashesMaxDefault  = 5 // a task whose workers die that often is buried
	backoffMinDefault  = time.Second
	backoffMaxDefault  = 10 * time.Minute
	stopTimeoutDefault = 5 * time.Second
	deadMaxDefault     = 10_000 // dead letters kept in each partition, the newest ones
	// Bytes of the dead letters kept in each partition: 500 of 32 kB, or all 10,000 of 1.6 kB.
	deadBytesMaxDefault = 16 << 20

	// claimMax bounds one claim, so that one node cannot empty a queue before others get a turn.
	claimMax = 128
	// portionBegin and portionEvery are how a server finds out how many tasks of a partition can run at once, see portion.
	portionBegin, portionEvery = claimMax / 4, 16
	// aheadTime and aheadMax bound how many tasks are claimed beyond the free workers: as many as the workers complete
	// in that time, and at most that many. Tasks that have not begun after aheadPatience are given back.
	aheadTime, aheadMax = time.Millisecond, 256
	aheadPatience       = 20 * time.Millisecond
	// rateEvery is the shortest time over which the workers' rate is measured.
	rateEvery = time.Millisecond
	// overdueMax bounds how many tasks one step promotes, and how many leases it reaps: a script of a few hundred tasks
	// ends within a millisecond or two.
	overdueMax = 200
	// settleMax and enqueueMax bound the tasks of one script for the same reason.
	settleMax  = 256
	enqueueMax = 256
	// payloadBytesMax bounds the payload of a task. enqueueBytesMax bounds the payloads of one script, except that one
	// task always fits: Redis buffers a whole call, and closes the connection at 1 GiB.
	payloadBytesMax, enqueueBytesMax = 1 << 20, 1 << 20
	// uniqueForMax bounds how long a unique key is taken.
	uniqueForMax = 30 * 24 * time.Hour
	// askPauseMin and askPauseMax are the pauses between the questions of one that waits for a slot, or for a result.
	askPauseMin, askPauseMax = 5 * time.Millisecond, 250 * time.Millisecond
	// thenMax and thenBytesMax bound the successors of a task, the bytes in base64 and with their own successors.
	thenMax, thenBytesMax = 16, 128 << 10
	// enqueueAlone is how many concurrent callers of Enqueue each make their own call; beyond that they share calls, of
	// which enqueueCalls are in flight.
	enqueueAlone, enqueueCalls = 8, 2
	// spreadEvery is how long tasks without a subject that are enqueued one by one go to the same partition, to share calls.
	spreadEvery = 2 * time.Millisecond
	// pollMax is the longest sleep, and so the longest delay after a lost wake-up with up to looksMax partitions. An idle
	// server looks at no more than looksMax of them each time, so with more partitions that delay grows in proportion.
	pollMax  = time.Second
	looksMax = 16
	// stopGrace is how long a handler has to return after its context has ended.
	stopGrace = time.Second
	// errorPause is the first pause after a failed call to Redis; it doubles up to pollMax.
	errorPause = 50 * time.Millisecond
	// errorBytesMax is how much of a handler's error is kept.
	errorBytesMax = 1024
	// nameBytesMax bounds a kind, a unique key and an id, pauseMax what a handler may ask for.
	nameBytesMax, pauseMax = option.NameBytesMax, option.PauseMax
	// announceEvery is how often a server says which kinds it runs; announceLive is for how long that counts.
	announceEvery, announceLive = 15 * time.Second, 45 * time.Second
	// reportEvery is how often an unknown kind is logged; reportedMax bounds how many kinds are remembered for that.
	reportEvery, reportedMax = time.Minute, 1000
	// listDefault and listMax are the default and the maximum size of a page of tasks.
	listDefault, listMax = 100, 1000
	// msMax is the highest time that a script counts exactly (Lua's numbers are doubles), minus what may be added to
	// it.
	msMax = 1<<53 - 1<<42
)
