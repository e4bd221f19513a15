// Package local keeps one user's groups on this device: what an application shows works offline and at once, and goes on
// over lost connections and restarts where it was. It is to Go what sdk/js is to a browser, and passes the same scenarios.
//
// A [Chat] reads all groups of the user over the websocket, or by long polls where that does not get through. Messages and
// the position behind them are stored in one write of a [Store], and only then acked. A [Timeline] shows a part of a group's
// log with its edits, deletions and reactions applied; what the server no longer has is a [Gap], never silence. [Chat.Send]
// stores a message before it returns, and sends it once, in order, whatever happens.
//
// A program that only handles what comes, and keeps nothing but its position, needs [client.Client.Stream] instead. The
// inbox is read by [client.Client.Inbox].
package local
