// Package announce puts one message in front of many: into the inboxes of everyone the server has ever known, or into the logs
// of groups and the inboxes of users that an operator names; now, at a time, or again and again.
//
// An announcement is pending, running, done or cancelled; one that recurs is pending between its runs. A run is cut into one
// part per partition. A part is done batch by batch: the step that fills the inboxes of a batch also moves the part on, so a
// worker that dies repeats no batch and skips none, and everybody gets a run once. Once Cancel has returned, nobody further
// gets it. A run that was missed, because no node was up or the one before took long, is made up for by the next.
package announce
