// Package deliver tells addresses outside: the webhooks of backends, the webhook devices of users, and web push. All of
// it goes through one Sender, over the guarded client of internal/egress:
//
//	s := deliver.New(deliver.Options{Allow: networks})
//	outcome := s.Webhook(ctx, chat.HookCall{URL: u, ID: id, Body: body, Secrets: secrets}) // Standard Webhooks
//	outcome = s.Do(request, owner)                                                         // anything else
//
// What became of it is a chat.Outcome, by its Verdict:
//
//   - Delivered: answered 2xx.
//   - Gone: answered 404 or 410. What to make of a 404 is the caller's business.
//   - Failed: try again, not before Outcome.After where that is set (Retry-After of the answer). A redirect is a failure.
//   - Busy: nothing was sent. Come again after Outcome.After; a task snoozes, it does not count as an attempt.
//
// Busy is what keeps one endpoint from slowing the others. An endpoint is a host and port. Its Sender has at most four
// requests under way to it (16 to the services of web push, which stand for all their users), and after five failures in
// a row none at all for a pause that doubles from 5 s to 5 min; then a single one tries whether it is back. Endpoints
// that have never answered, or that failed last, have at most half of the workers between them, however many they are, and those of one owner six: 100 endpoints of
// one user that hang delay nobody else's.
// Whoever would have to wait for more than a moment is told when the endpoint will have time for it, so those who wait
// come back one after the other instead of all at once.
//
// A Sender remembers a bounded number of endpoints and may be used by many goroutines.
package deliver
