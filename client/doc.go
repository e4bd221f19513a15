// Package client talks to a chatd server over HTTP and its websocket.
//
// A group is a log with dense ids, and a reader is a position in it. Whoever reads through [Client.Stream] or
// [Client.Poll] gets every message of all their groups once and in order, also over lost connections and restarts of
// either side: both go on from the position of the last event that the caller took. What the server can no longer serve
// is told as a [Gap]; nothing is skipped in silence.
//
// Calls are repeated only where that is safe: reads, acks, and whatever carries a key by which the server knows it
// again. Every send carries such a key; one is made up where the caller gives none.
//
// All methods of [Client] may be called from many goroutines. Of [Stream] and [Poll], Next is for one goroutine.
package client
