package store

import "time"

// Every bound of this package that is no limit of the wire contract, with its reason.
const (
	pipelineMax         = 256     // calls in one round trip: what is sent ahead stays below a socket buffer or two
	transactionMax      = 100     // groups in one transaction: the server does nothing else meanwhile (about 2 ms)
	rangeBatch          = 500     // ids, or users, that one step looks at
	lastsMax            = 1000    // groups whose ends one script reads
	unpublishedBytesMax = 1 << 20 // of entries that one step tells webhooks of

	webhooksMax          = 100     // each is looked at for every event
	deliveriesWaitingMax = 100_000 // tasks in a shard of the egress queue, about 100 MB: then events wait in their logs
	subscribeMax         = 1000    // channels in one SUBSCRIBE
	forgetBatch          = 10      // announcements that have ended that one request removes to make room

	dialTimeout  = 2 * time.Second        // to reach the server: above a TCP retransmission
	replyTimeout = 3 * time.Second        // for any answer of a Redis: above durableWait, and a script takes 10 ms
	poolTimeout  = 250 * time.Millisecond // for a free connection: then 503, so that waiting callers do not pile up
	poolSize     = 128                    // connections of a node: each carries one call at a time, and a busy machine holds calls for long
	durableWait  = time.Second            // how long a send waits for a disk or a replica before it says what it reached

	pingEvery   = 5 * time.Second  // on the subscription, so that a dead connection shows
	silenceMax  = 12 * time.Second // without a pong or anything else the subscription is renewed
	renewDelay  = 50 * time.Millisecond
	renewDelays = 2 * time.Second // the most between two attempts to subscribe again
)

// layoutVersion names this arrangement of keys and values. A store that was written by another is refused.
const layoutVersion = 1
