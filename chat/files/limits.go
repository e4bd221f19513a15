package files

import "time"

// Bounds of this package.
const (
	pieceBytesMax = 8 << 20          // between two commits: what kill -9 may lose
	pieceTime     = 3 * time.Second  // the same for slow senders
	lockLease     = 5 * time.Second  // of a writer: how long an upload waits for a node that was killed
	lockRenew     = time.Second      // how often it is renewed
	lockMargin    = time.Second      // before the end of the lease nothing more is written
	lockWaitMax   = 15 * time.Second // for the lock of another request; one that stalls is given up after 8 seconds
	lockWaitStep  = 250 * time.Millisecond
	commitTimeout = time.Second // of what is recorded after a request has ended

	reservedMax      = time.Hour        // after that, a reservation without a record belongs to a creation that failed
	previewsMax      = 1000             // previews that wait in a process, each for little but its turn
	previewsUserMax  = 100              // the same for one user
	previewTimeout   = 10 * time.Minute // for one with its turn: its callers have left long before
	avatarsMax       = 16               // that wait or are made in a process, each with its upload in memory
	previewRetry     = 5 * time.Second  // when to ask again if there are too many
	previewPixelsMin = 1 << 16          // cost of the smallest: opening and storing

	orphanAge    = time.Hour          // after that, bytes without a record belong to nothing
	orphanKeep   = 7 * 24 * time.Hour // and are kept for so long, in case the store is an older copy
	orphansMax   = 1000               // crashes do not leave more
	comparePage  = 500                // blobs of a page
	compareEvery = time.Hour
	stepsMax     = 10_000 // of one task
	sniffBytes   = 512    // what a type is recognised by
)
