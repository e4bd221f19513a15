// Package ws serves the websocket route: handshakes, sessions, and the commands and frames of the protocol chatd.v1.
//
// A session has two goroutines. Its reader handles commands one after the other. Its writer is the only one that writes
// frames; whenever it is signalled, it pulls pending events from a follower. Sessions is safe for concurrent use.
package ws
