package embedded

import "time"

const (
	// requestBytesMax is how far a client may write ahead of the server before it has to wait.
	requestBytesMax = 1 << 20
	// repliesBytesMax is how much a client may leave unread before its connection is closed. A client reads nothing
	// until its whole pipeline is written, so this must hold the replies of the longest one.
	repliesBytesMax = 128 << 20
	// idleBytesMax is how much buffer an idle connection keeps.
	idleBytesMax = 64 << 10

	// recordBytesMax bounds one record of a journal or snapshot: far above any call (arguments are at most some 256
	// messages), far below what a damaged length could claim.
	recordBytesMax = 256 << 20
	// chunkBytes is roughly how much of one key goes into one record of a snapshot.
	chunkBytes = 256 << 10
	// scriptsMax bounds the sources kept; chatd has about a hundred.
	scriptsMax = 4096

	// syncEvery is how often the journal is flushed to the disk when nobody asks, and so what a power failure may cost.
	syncEvery = time.Second

	// A journal is compacted into a snapshot at start above compactStartBytes, and while running above compactCalls
	// (each costs some 15 to 30 us at the next start) or compactBytes, but not before it has reached half the size of
	// the last snapshot or holds compactCallsMost, so that writing snapshots stays in proportion to writing messages.
	compactStartBytes = 1 << 20
	compactBytes      = 64 << 20
	compactCalls      = 50_000
	// compactCallsMost is the most calls in a journal, whatever the size of the snapshot: replaying more takes seconds.
	compactCallsMost = 2 * compactCalls
)
