// Package embedded is a Redis-compatible server inside the process, with its own journal and snapshots, so that chatd
// stores data without anything else installed.
//
// The commands come from miniredis, and Lua from gopher-lua. This package adds a gate in front of every command, sorted sets
// that stay sorted, and a folder:
//
//   - Every change is a script (EVALSHA or EVAL outside MULTI). Scripts run one at a time, in one order.
//   - The call of a script, with its keys, arguments and time, is in the journal file before its first command that changes
//     or publishes anything. So nobody ever sees what is not in the journal; if the journal cannot be written, the script is
//     refused before it has changed anything; and a script that changes nothing writes nothing.
//   - Opening the folder loads the newest snapshot and repeats the calls in the journal, with the recorded times. Each record
//     carries a digest of what the previous call wrote, so a replay that diverges is detected and refused instead of being
//     half right.
//   - Refused, because a replay could not repeat it or a snapshot could not hold it: writes outside scripts, random commands
//     and math.random in scripts that write, keys that expire, streams, HyperLogLogs, a second database.
//
// A killed process loses nothing that was answered: write(2) precedes the answer. A power failure loses at most what
// came after the last fsync: a second, or nothing for callers that waited for [Store.Sync].
//
// It is made for one node and for data that fits in memory twice.
package embedded
