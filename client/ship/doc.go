// Package ship distributes files and logs to many processors through a group: a part is a message with a file, the end mark is
// a message, and its receipts say who has finished. What all have processed is trimmed, and while some are too far
// behind, the shipper waits (overflow "block").
//
// [Files] is the loop of the shipper, [Process] that of a processor. Both go on where they were after a crash of either side or
// of the server. docs/shipping.md describes the messages, for programs in other languages.
package ship
