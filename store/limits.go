package store

import "time"

// Every bound of this package that is not a limit of the wire contract, with its reason.
const (
	pipelineMax         = 256     // calls in one round trip: what is sent ahead fits into a socket buffer or two
	transactionMax      = 100     // groups in one transaction: it blocks the server for about 2 ms
	rangeBatch          = 500     // ids, or users, that one step looks at
	lastsMax            = 1000    // groups whose ends one script reads
	unpublishedBytesMax = 1 << 20 // of entries that one step tells webhooks of
	unarchivedBytesMax  = 1 << 20 // of entries that one step reads for the archive
	erasureBytesMax     = 1 << 19 // of entries or items that one step looks through for what somebody wrote

	filesStep   = 100  // files that one step removes, each with a task
	fileIDsStep = 1000 // ids that one command goes through

	webhooksMax          = 100             // each is looked at for every event
	deliveriesWaitingMax = 100_000         // tasks in a shard of the egress queue, about 100 MB: then events wait in their logs
	webhooksTasksMax     = 80_000          // of these for webhooks, in equal shares: one that is away holds up no other
	webhooksBehindMax    = 2 * webhooksMax // in one group: those that were removed stay until their task runs
	sendsAlone           = 8               // callers that each send at once: joining would add latency, and saves little
	sendsFlying          = 2               // calls in flight while more are waiting: one is answered while the other runs
	sendsJoined          = pipelineMax     // messages that go together
	sendsOfCall          = 64              // messages of one group in one script call: it blocks the server for less than a millisecond
	sendsBytesOfCall     = 1 << 18         // of these

	beginsPause   = 3 * time.Millisecond // how long sessions that begin at once wait for each other: saves a third of the commands
	beginsJoined  = pipelineMax / 2      // sessions that share one
	beginItemsMax = 4                    // the newest items of an inbox that it brings along
	beginBytesMax = 4 << 10              // if they are not longer
	sharedPause   = time.Millisecond     // how long readers of one group that wake together wait for each other
	sharedUsers   = 100                  // of them that one step answers
	sharedEntries = plainHead            // that one step reads for all of them: 0.8 MiB at the largest size that the default limits allow
	standingsMax  = 200                  // users that one step looks up: half a millisecond

	unusualFor   = time.Minute // how long a group's sends skip the lean script, after its settings did not allow it
	subscribeMax = 1000        // channels in one SUBSCRIBE
	forgetBatch  = 10          // announcements that have ended that one request removes to make room

	// If the server is down, the breaker ends a call long before these: they are for a single connection that died silently.
	dialTimeout  = 5 * time.Second
	replyTimeout = 10 * time.Second
	durableWait  = time.Second // how long a send waits for a disk or a replica before it says what it reached

	turns           = 128              // connections of a node: each carries one call at a time, and a busy machine holds calls for long
	turnWaitMax     = 10 * time.Second // for a connection, if the caller has more time than that: below the deadline of an answer
	turnsWaitingMax = 50_000           // callers that wait, each with its request: some kB
	// poolSize is more than turns: go-redis stops dialing for a second after so many failures, which is the breaker's affair.
	poolSize = 32 * turns

	// connBytes is how much each connection buffers in either direction: a page of 50 messages. go-redis would take twice that,
	// for each of the connections that a peak has opened.
	connBytes = 16 << 10

	durableConns      = 8           // connections that wait for a disk or a replica, each for many sends
	durableBatch      = pipelineMax // sends that share a wait
	durableWaitingMax = 10_000      // sends that wait for a connection
	abilitiesEvery    = time.Second // how old what is known about disk and replicas may be

	// A cluster: how often and how long a call is repeated while its slot moves or gets another master.
	redirectsMax     = 64
	redirectPatience = 2 * time.Second // a failover takes longer: an error is better than a longer wait
	redirectPause    = 5 * time.Millisecond
	redirectPauses   = 100 * time.Millisecond
	topologyTick     = 250 * time.Millisecond // between two checks for the new master of a slot
	topologyAge      = 10 * time.Second       // how old the known topology may be while nothing fails
	clusterShare     = 64                     // partitions of a new store in a cluster

	// The breaker: the first refusal comes after silenceSuspect and pingTimeout at most.
	silenceSuspect  = 200 * time.Millisecond // calls are under way and nothing is answered: a slow script takes less
	patienceTick    = 25 * time.Millisecond
	pingTimeout     = 600 * time.Millisecond // then calls are refused
	pingAgain       = 100 * time.Millisecond // while they are
	pingSeldom      = 10 * time.Second       // while they are and nobody needs the server
	pingTimeoutOpen = time.Second
	pingsMax        = 8 // at the same time

	pingEvery   = 5 * time.Second  // on the subscription, so that a dead connection shows
	silenceMax  = 12 * time.Second // without a pong or anything else the subscription is renewed
	renewDelay  = 50 * time.Millisecond
	renewDelays = 2 * time.Second // the most between two attempts to subscribe again
)

// LayoutVersion names this arrangement of keys and values. A store that was written by another is refused.
const LayoutVersion = 1
