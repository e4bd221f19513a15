// Package hook asks programs of operators about messages before they are stored. An operator registers a hook: an address, the
// groups it is about, how long an answer may take, and what holds where none comes.
//
// Hooks are a table that every node keeps in memory (package table), so where there are none a send pays nothing, and where there
// are some a node knows without a command which messages they are about. A question goes to one hook after the other, in the order
// in which they were made, each over the message as the one before left it; the first refusal ends.
//
// Each node asks a hook at most InFlight questions at once. What finds the line full, what gets no answer in time or one that is
// none, and what finds a hook that has failed several times in a row, is decided by OnError: nothing waits for a hook that is
// away, and nobody for those who wait.
package hook
