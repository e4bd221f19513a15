// Package client talks to a chatd server over HTTP and its websocket.
//
// A group is a log with dense ids, and a reader is a position in it. A program that reads through [Client.Stream] or
// [Client.Poll] gets every message of all its user's groups once and in order, even over lost connections and restarts
// of either side: it continues after the last event that the caller handled. If the server no longer has some messages,
// the caller gets a [Gap]; nothing is skipped silently.
//
// Calls are repeated only if that is safe: reads, acks, and calls with a key by which the server recognizes the repeat.
// Every send has such a key; one is generated if the caller sets none.
//
// [Client] is safe for concurrent use. Next of [Stream] and [Poll] must be called from one goroutine at a time.
package client
