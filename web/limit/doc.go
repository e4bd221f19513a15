// Package limit bounds what one caller can take from a node, so that nobody else notices: rates (what a user, a user's
// sends and an address may do in a time) and counts (connections, calls under way and waiting polls at once).
//
// Rates follow GCRA, the generic cell rate algorithm (ITU-T I.371), which needs one number a caller: the time at which its
// bucket is full again. Calls weigh what they cost the server; cost.go has every weight. golang.org/x/time/rate limits
// single sockets; it is not used here because it keeps a lock and several words a caller, and can't say when a bucket is
// full.
//
// All state is of this node and in memory, bounded, and costs the store nothing. That is what is to be protected: the time
// and memory of the node, and its share of the store. With n nodes a caller who spreads over all of them gets n times as
// much.
package limit
