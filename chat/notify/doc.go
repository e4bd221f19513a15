// Package notify notifies members who are away: those who have a device, and no live session on any node.
//
// A log that grew enqueues one fan-out for its group after a delay. The fan-out looks for members who have not read
// everything, leaves out those with a session, and notes for the others how far they were notified, in the same step that
// enqueues what is to be sent. So a thousand messages are one notification with a count, and nobody is notified twice of the
// same messages. An inbox does the same for its owner. Each member decides per group by a level: all, mentions or none.
//
// Each delivery to a device is a task of its own in the egress queue. It looks again before it sends: a session that came, a
// message that was read, a changed level or a removed device ends it. Whoever seemed to have a session when the fan-out ran is
// looked at once more, after the heartbeat of a node that died would have run out.
//
// Presence is kept by heartbeats: a node reports who has a session on it, and renews that every few seconds. When it dies, its
// sessions count as live for 15 s at most.
package notify
