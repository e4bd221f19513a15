// Package webhook delivers events to backends. An operator registers a webhook: a URL, the events it wants, and secrets that sign
// its requests as Standard Webhooks says.
//
// Entries of a log become events in the order of the log: a task reads those that were not published yet, makes a delivery
// for each webhook that wants one, and moves the group's position, in one step of the store. So no event is missed, however
// often the task is cut off, and none is made twice. What is in no log (a group deleted, a schedule failed) is published by
// Service.Publish.
//
// What waits for a webhook is bounded. One that is over its share falls behind in the groups that have more for it: there it
// has a position of its own in the log, and a task that goes on from it once there is room. The others go on meanwhile.
//
// Each delivery is a task of its own in the egress queue, with an id that is the same for every attempt. A delivery that
// failed comes again after growing pauses, for about three days, and is a dead letter then. An endpoint that answers 410 is
// disabled: it gets nothing further, also nothing of what waits. Delivery is at least once, and deliveries may overtake one
// another; the id tells a receiver what it has seen.
package webhook
