// Package ws serves the websocket route: handshakes, sessions, and the commands and frames of the protocol chatd.v1.
//
// A session has a goroutine, its reader, which handles commands one after the other. Whatever there is to write puts the
// session into a run queue (wake). A few lasting writers take sessions from it: they pull pending events from the session's
// follower, and write what waits at once, without blocking. Where the client or the store has to be waited for, the session
// gets a goroutine of its own until that is over, so nobody waits for others. Sessions is safe for concurrent use.
package ws
