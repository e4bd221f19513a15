// Package embedded is a Redis-compatible server inside the process, with a journal and snapshots of its own, so that
// chatd keeps what it was told without anything else installed.
//
// The commands and Lua are miniredis'. What this package adds is a gate in front of every command, and a folder:
//
//   - Every change is a script (EVALSHA or EVAL outside MULTI). Scripts run one at a time, in one order.
//   - The call of a script, with its keys, arguments and time, is in the journal file before the first command of it
//     that changes anything or publishes is let through. So nobody ever sees what the journal does not hold, a journal
//     that cannot be written turns the script away before it has changed anything, and a script that changes nothing
//     costs no byte.
//   - Opening the folder loads the newest snapshot and calls the scripts of the journal again, with the recorded time.
//     Each record carries a digest of what the call before it wrote, so a replay that takes another course is noticed
//     and refused instead of being half right.
//   - What is refused, because a replay could not repeat it or a snapshot could not hold it: writes outside scripts,
//     random commands and math.random in scripts that write, keys that expire, streams, HyperLogLogs, a second database.
//
// A process that is killed loses nothing that was answered: write(2) precedes the answer. A host that loses power loses
// at most what came after the last fsync: a second, or nothing for those who waited for [Store.Sync].
//
// It is made for one node and for data that fits in memory twice. miniredis sorts a sorted set at every range read, so
// a log of 10,000 messages that is read by range costs milliseconds, where Redis takes microseconds.
package embedded
