// Package limit bounds what one caller can take from a node, so that nobody else notices: rates (what a user, a user's
// sends and an address may do in a time) and counts (connections, calls under way and waiting polls at once).
//
// Rates follow GCRA, the generic cell rate algorithm (ITU-T I.371), which needs one number per caller: the time at which its
// bucket is full again. Calls are weighted by what they cost the server; cost.go has every weight. golang.org/x/time/rate
// limits single sockets; it is not used here because it keeps a lock and several words per caller, and can't say when a
// bucket is full.
//
// All state belongs to this node. It is in memory, bounded, and costs the store nothing: the limits protect the time and
// memory of the node, and its share of the store. A caller who uses n nodes gets n times as much.
package limit
