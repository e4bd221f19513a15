// Package schedule sends messages later: to a group or a user, once at a time or again and again by cron in a time zone.
//
// A schedule is pending or paused, and ends as done, failed or cancelled; a day after its end it is forgotten. Every change
// raises its version, and the task of an occurrence carries the version that it is for. The step of the store that sends also
// raises the version, so each occurrence is sent once, whatever happens to a worker, and one that was moved or cancelled is
// not sent. Nothing fires early: due times are compared with the clock of the store alone.
//
// Rights are those of the moment of the firing. An occurrence that is refused tells its owner by an inbox item, and webhooks by
// the event schedule.failed. One that comes more than ten seconds late was missed: it is sent late or skipped, as its misfire
// says, and several that were missed count as one.
package schedule
