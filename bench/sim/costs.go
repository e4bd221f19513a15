package main

// What an operation costs, from docs/costs.md and bench/RESULTS.md: measured on one core of an AMD EPYC with Redis 7.0. Times
// of Redis are in us of its one thread, those of a node in us of a core.
const (
	sendUs       = 38.6 // a send of 200 bytes, one at a time: "server time of a send"
	readerAckUs  = 1.7  // of each live reader: 56 us for a message with ten of them, acks included, less the send
	taskUs       = 100  // a task put in, claimed and completed: 85 to 122 us
	syncUs       = 113  // a sync over a few groups: 76 to 129 us
	syncGroupUs  = 2    // of each group of it: 1.5 to 2.5 us
	sendNodeUs   = 60   // a send over HTTP
	connectUs    = 700  // a websocket that is opened by a user of 20 groups
	socketBytes  = 20 << 10
	messageBytes = 590.0  // of Redis, in groups of 100 messages
	archiveBytes = 1031.0 // of PostgreSQL, search indexes included
	tenDelivery  = 20.0   // us of a node a delivery in groups of 10, with acks
	manyDelivery = 3.0    // in groups of 100
	mostDelivery = 2.0    // in groups of 1,000
)

// memberBytes is what a member of a group of that size takes of Redis, with the group's own keys.
func memberBytes(size int) float64 {
	switch {
	case size < 10:
		return 1660
	case size < 100:
		return 970
	case size < 1000:
		return 700
	default:
		return 1260 // the sorted sets are no listpacks any more
	}
}

// deliveryUs is what a delivery takes of a node where a message has that many live readers.
func deliveryUs(readers float64) float64 {
	switch {
	case readers < 30:
		return tenDelivery
	case readers < 300:
		return manyDelivery
	default:
		return mostDelivery
	}
}
