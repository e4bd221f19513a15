// Package live serves readers that wait: sessions (Follow), long polls (Sync) and receipts with a wait. A node follows each
// group and user once, however many readers it has; all methods of Service may be called from many goroutines.
//
// # Who wakes whom
//
// The store's signals come in through hub.deliver, on one goroutine that never waits. A signal changes a feed (the end of
// one group's log in memory), which leaves a note in the pending of each reader that is interested, and wakes it through a
// channel of capacity one. The reader then takes what its positions are owed: from the ring of the feed where that reaches,
// from the store where it does not. Nothing is pushed at a reader, so a slow one costs its bounded pending and no more.
//
// # States of a feed
//
//   - unknown: last is unknownLast. The first signal, answer of the store or comparison says where the log ends.
//   - whole: want == last. The ring ends where the log ends, as far as anyone heard.
//   - with a hole: want > last. The feed is queued (repairing) until a fill has read what is missing, once for all readers.
//
// Whenever the ring may be of another log than before (another epoch, another mark at the same id, a lower end), or what
// members may see has changed, life grows; a line that was compared in another life asks the store. A feed without
// interests is idle, stays followed for Limits.FeedLinger, and is evicted then.
//
// # States of a line, one group of a Follower
//
//   - verified: pos is of this log. Before that its mark, which a client named, is compared with the ring or the store.
//   - gapPending: the next batch says complete: false. It is set when a position leads to a later start.
//   - queued: in todo, to be looked at in this round or a later one.
//   - gone: no longer followed; a late note about it is skipped.
//
// # What a lost signal costs
//
// Of a message: until the next one of the group, which shows the hole, or until the safety check (Limits.SafetyCheck). Of
// the inbox: until the safety check. Of joining or leaving: until the subscription is renewed (readers read their index
// again then), a read of the group, or the next session. Cursors and typing are not repeated: the next event replaces them.
//
// # What a slow client costs
//
// One round of reading, of about roundBytesMax, waits for a session; it reads no further until that is taken. All sessions
// of a node together hold at most Limits.PendingBytesMax: a round reserves its share before it reads (ErrFull), and gives
// back what it did not need. What they read at the same time is bounded by readingBytesMax.
//
// # Lock order
//
// hub.mu, feed.mu, pending.mu. The lock of a feedQueue is a leaf. None is held over a call of the store but
// SignalStore.Unfollow, which does not wait. A Follower has no lock: one goroutine owns it.
package live
