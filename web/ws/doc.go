// Package ws serves the websocket route: handshakes, sessions, and the commands and frames of the protocol chatd.v1.
//
// A session has two goroutines. Its reader takes commands one after the other; its writer is the only one that writes
// frames, and pulls from a follower what the session is owed whenever it is signalled. Sessions may be used by many
// goroutines at once.
package ws
