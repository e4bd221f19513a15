// Package webhook delivers events to backends. An operator registers a webhook: a URL, the events it wants, and secrets
// that sign its requests as Standard Webhooks specifies.
//
// Entries of a log become events in the order of the log: a task reads the unpublished ones, makes a delivery for each
// webhook that wants one, and advances the group's position, in one step of the store. So no event is missed, however
// often the task is interrupted, and none is made twice. Events that are in no log (a group deleted, a schedule failed)
// go through Service.Publish.
//
// How much may wait for a webhook is bounded. One that exceeds its share falls behind in the groups that have more for
// it: there it gets its own position in the log, and a task that continues from it once there is room. The others are
// not affected.
//
// Each delivery is a separate task in the egress queue, with an id that is the same for every attempt. A failed
// delivery is retried after growing pauses, for about three days, and then becomes a dead letter. An endpoint that
// answers 410 is disabled: it gets nothing more, not even the deliveries that are already waiting. Delivery is at least
// once and may be out of order; receivers recognize repeats by the id.
package webhook
