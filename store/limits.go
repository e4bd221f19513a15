package store

import (
	"time"

	"github.com/chatd/chatd/store/conn"
)

// Every bound of this package that is not a limit of the wire contract, with its reason.
const (
	pipelineMax         = conn.PipelineMax
	clusterShare        = 64      // partitions of a new store in a cluster
	transactionMax      = 100     // groups in one transaction: it blocks the server for about 2 ms
	rangeBatch          = 500     // ids, or users, that one step looks at
	lastsMax            = 1000    // groups whose ends one script reads
	unpublishedBytesMax = 1 << 20 // of entries that one step tells webhooks of
	unarchivedBytesMax  = 1 << 20 // of entries that one step reads for the archive
	erasureBytesMax     = 1 << 19 // of entries or items that one step looks through for what someone wrote

	filesStep   = 100  // files that one step removes, with a task for each
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
	sharedUsers   = 200                  // of them that one step answers
	sharedEntries = 640                  // that one step reads for all of them, and
	sharedBytes   = 80 << 10             // up to how many bytes: what a session takes in one round, and a little more
	sharedPulls   = 8                    // groups of one reader that are read so: a call may have PageBytesMax, about a megabyte
	sharedApart   = plainHead            // entries that those who are answered by one step may begin apart
	standingsMax  = 200                  // users that one step looks up: half a millisecond

	forgetBatch = 10 // announcements that have ended that one request removes to make room
)

// LayoutVersion names this arrangement of keys and values. A store that was written by another is refused.
const LayoutVersion = 1
