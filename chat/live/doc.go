// Package live serves readers that wait: sessions (Follow), long polls (Sync) and receipts with a wait. A node follows each
// group and user once, no matter how many readers it has. All methods of Service are safe for concurrent use.
//
// # Who wakes whom
//
// The store's signals arrive through hub.deliver, on one goroutine that never blocks. A signal changes a ring (the end of one
// group's log in memory). Its feed leaves a hint in the pending of each interested reader and wakes it through a channel of
// capacity one, or by a function that it has set (Follower.Notify). The reader then takes everything after its positions: from
// the ring as far back as that reaches, otherwise from the store. Readers at the same position share what they take from the
// ring (stretch). Nothing is pushed to a reader, so a slow one costs no more than its bounded pending.
//
// Who is behind the ring asks the store, and where others follow the same group does so together with them (readTogether): those who
// ask while one read is under way are answered by the next one, each by their own rights at that instant, and their batches
// share a frame. Nothing of it is kept, so nothing of it can be out of date.
//
// # Where to read first
//
//   - ring.go: what is known of a log, and what a signal or an answer of the store does to it. No lock, no clock, no readers.
//   - line.go: one group of one session: plan says from its position and the ring where it gets what comes next, apply takes
//     what was read from the store.
//   - catchup.go: the same for a whole session: plan, read (all the I/O there is), apply.
//   - feed.go, hub.go, repair.go: who changes rings, and who is woken.
//
// # States of a ring
//
//   - unknown: last is unknownLast. The first signal, store answer or comparison says where the log ends.
//   - whole: want == last. The ring ends where the log ends, as far as this node knows.
//   - with a hole: want > last. The feed is queued (repairing) until a fill has read what is missing, once for all readers.
//   - unsure: signals may have been missed. The same, and until the fill nobody is served, and no signal continues the ring.
//
// The generation (gen) tells whether anything changed while the store was asked: entries read for an older generation that may be
// out of date do not enter the ring. Some generations begin another life of the log, as readers see it: another epoch, another
// mark at the same id, a lower end, or members may see more or less than before. A line that was compared before then asks the
// store. A feed without readers is idle: it stays subscribed for Limits.FeedLinger and is then evicted.
// The ring of a feed with readers is given up when it was not used for a few safety checks (quietChecks).
//
// # States of a line, one group of a Follower
//
//   - verified: pos belongs to this log. Until then the mark that a client sent is compared with the ring or the store.
//   - gapPending: the next batch says complete: false. It is set when reading has to start later than the position says.
//   - queued: in todo, to be looked at in this round or a later one.
//   - gone: no longer followed; a late hint about it is skipped.
//
// # What a lost signal costs
//
// A message arrives with the next one of the group, which reveals the gap, or with the safety check (Limits.SafetyCheck). An
// inbox item arrives with the safety check. Joining or leaving is noticed when the subscription is renewed (readers then read
// their index again), when the group is read, or in the next session. Cursor, typing and draft events are not repeated: the
// next event replaces them.
//
// # What a slow client costs
//
// At most one round of reading, about roundBytesMax, waits for a session; nothing more is read until it is taken. All
// sessions of a node together hold at most Limits.PendingBytesMax: a round reserves its share before it reads (ErrFull), and
// returns what it did not need. What they read at the same time is bounded by readingBytesMax.
//
// # Lock order
//
// hub.mu, feed.mu, pending.mu. The lock of a queued.List is a leaf. None of them is held during a call of the store, except
// for SignalStore.Unfollow, which does not block. A Follower has no lock: one goroutine owns it.
package live
