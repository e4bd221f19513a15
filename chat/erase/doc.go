// Package erase removes a person: the content of what they wrote, and everything that is kept of them.
//
// An erasure is a record and one task. The task goes through the parts of a store in small steps, and the record says how far it
// is: a node that dies leaves the rest to another. Every step may be repeated.
//
// What was written in groups is deleted as its author would delete it: each message gets a deletion in its log, so that clients who
// have a copy hear of it, ids stay dense and cursors hold. Entries keep the name of who wrote them, and nothing else of them.
package erase
