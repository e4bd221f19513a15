package embedded

import "time"

const (
	// requestBytesMax is how far a client may write ahead of the server before it waits.
	requestBytesMax = 1 << 20
	// repliesBytesMax is how much a client may leave unread before its connection is closed. A pipeline reads nothing
	// before all of it is written, so this must hold the replies of the longest one.
	repliesBytesMax = 128 << 20
	// idleBytesMax is how much buffer a drained connection keeps.
	idleBytesMax = 64 << 10

	// recordBytesMax bounds one record of a journal or snapshot: far above a call (arguments are at most some 256
	// messages), far below what a damaged length could ask for.
	recordBytesMax = 256 << 20
	// chunkBytes is about how much of one key goes into one record of a snapshot.
	chunkBytes = 256 << 10
	// scriptsMax bounds the sources kept; chatd has about a hundred.
	scriptsMax = 4096

	// syncEvery is how often the journal is flushed to the disk when nobody asks: what a power loss may cost.
	syncEvery = time.Second

	// A journal is compacted into a snapshot at start above compactStartBytes, while running above compactCalls (some
	// 15 to 30 us each at the next start) or compactBytes, but not before it has reached half the size of the last snapshot,
	// so that the writing of snapshots stays in proportion to the writing of messages.
	compactStartBytes = 1 << 20
	compactBytes      = 64 << 20
	compactCalls      = 50_000
)
