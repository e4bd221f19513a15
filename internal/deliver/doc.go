// Package deliver calls external addresses: the webhooks of backends, the webhook devices of users, and web push. All
// calls go through one Sender, over the guarded client of internal/egress:
//
//	s := deliver.New(deliver.Options{Allow: networks})
//	outcome := s.Webhook(ctx, webhook.Call{URL: u, ID: id, Body: body, Secrets: secrets}) // Standard Webhooks
//	outcome = s.Do(request, owner)                                                        // anything else
//
// The result is a webhook.Outcome, with one of these Verdicts:
//
//   - Delivered: answered 2xx.
//   - Gone: answered 404 or 410. The caller decides what a 404 means.
//   - Failed: retry, not before Outcome.After if that is set (Retry-After of the answer). A redirect is a failure.
//   - Busy: nothing was sent. Retry after Outcome.After; a task snoozes, and this does not count as an attempt.
//
// Busy keeps one endpoint from slowing down the others. An endpoint is a host and port. A Sender has at most four
// requests in flight to each (16 to the services of web push, which serve all their users). After five failures in a
// row it makes none for a pause that doubles from 5 s to 5 min; then a single request tests whether the endpoint is
// back. Endpoints that have never answered, or that failed last, share at most half of the workers, however many they
// are, and those of one owner get at most six: 100 hanging endpoints of one user delay nobody else's. A caller that
// would have to wait longer than a moment learns when the endpoint will have time for it, so that callers come back
// one after the other instead of all at once.
//
// A Sender remembers a bounded number of endpoints and is safe for concurrent use.
package deliver
