// Package notify notifies offline members: those who have a device, and no live session on any node.
//
// A log that grew enqueues one fan-out for its group after a delay. The fan-out finds the members who have unread
// messages, skips those with a session, and for the others records up to which message they were notified, in the same
// step that enqueues the notifications. So a thousand messages become one notification with a count, and nobody is
// notified of the same messages twice. An inbox does the same for its owner. Each member sets a level per group: all,
// mentions or none.
//
// Each delivery to a device is a separate task in the egress queue. It checks again before it sends: a new session, a
// read message, a changed level or a removed device cancels it. Users who seemed to have a session during the fan-out
// are checked once more after the heartbeat of a dead node would have expired.
//
// Presence is kept by heartbeats: a node reports who has a session on it, and renews that every few seconds. If it
// dies, its sessions count as live for at most 15 s.
package notify
