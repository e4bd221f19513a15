// Package schedule sends messages later: to a group or a user, once at a time or recurring by cron in a time zone.
//
// A schedule is pending or paused, and ends as done, failed or cancelled; a day after its end it is removed. Every
// change raises its version, and the task of an occurrence carries the version that it is for. The store's step that
// sends also raises the version, so each occurrence is sent once, whatever happens to a worker, and a moved or
// cancelled one is not sent. Nothing fires early: only the clock of the store decides what is due.
//
// Rights are checked when a schedule fires. If an occurrence is refused, its owner gets an inbox item, and webhooks get
// the event schedule.failed. An occurrence that is more than ten seconds late counts as missed: it is sent late or
// skipped, as its misfire says, and several missed ones count as one.
package schedule
