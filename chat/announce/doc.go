// Package announce sends one message to many: to the inboxes of all users the server has ever known, or to the logs of
// groups and the inboxes of users that an operator names; now, at a time, or recurring.
//
// An announcement is pending, running, done or cancelled; a recurring one is pending between its runs. A run is split
// into one part per partition, and a part is delivered batch by batch. The step that fills the inboxes of a batch also
// advances the part, so a worker that dies neither repeats nor skips a batch, and everybody gets a run once. After
// Cancel returns, nobody else gets it. One late run makes up for all that were missed because no node was up or the
// previous run took long.
package announce
