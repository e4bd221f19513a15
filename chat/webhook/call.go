package webhook

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"time"
)

// Verdict is the outcome of a call to an external address.
type Verdict string

// The verdicts.
const (
	Delivered Verdict = "delivered"
	Gone      Verdict = "gone"   // the address answered that it is no more (404, 410)
	Failed    Verdict = "failed" // no answer, or one that is neither of the above
	Busy      Verdict = "busy"   // not tried: enough others are under way to the same host, or it failed too often
)

// Outcome is an attempt that was made, or that was not made yet.
type Outcome struct {
	Verdict Verdict
	Status  int           // of the answer; 0: there was none
	After   time.Duration // when to come again, at the earliest; 0: nothing was said. Busy always says it
	Cause   string        // for operators; holds nothing of what was sent or answered, nor the address
}

// Call is one attempt to call an address as Standard Webhooks says. ID is the same for every attempt; the time
// that is signed is the time of the attempt.
type Call struct {
	Owner   string // whose endpoint it is: the unproven endpoints of one owner share a small part of the workers
	URL     string
	ID      string
	Body    []byte
	Secrets []string // each signs: two while an old one is being replaced
}

// Sender calls addresses outside. It never waits longer than a single request may take.
type Sender interface {
	Webhook(ctx context.Context, call Call) Outcome
	// CheckURL refuses an address that may not be called. The error is for whoever wrote it.
	CheckURL(url string) error
}

// AddressBytesMax is the longest address of an endpoint.
const AddressBytesMax = 2048

// secretPrefix and secretBytes are of Standard Webhooks: 24 to 64 random bytes in base64.
const (
	secretPrefix = "whsec_"
	secretBytes  = 32
)

// NewSecret makes what an endpoint's requests are signed with.
func NewSecret() string {
	b := make([]byte, secretBytes)
	rand.Read(b) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(b)
}
