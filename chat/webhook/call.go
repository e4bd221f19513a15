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
	Gone      Verdict = "gone"   // the address answered that it no longer exists (404, 410)
	Failed    Verdict = "failed" // no answer, or any other
	Busy      Verdict = "busy"   // not attempted: too many calls to the host are in progress, or it failed too often
)

// Outcome is the result of an attempt, or of one that was put off.
type Outcome struct {
	Verdict Verdict
	Status  int           // of the answer; 0: there was none
	After   time.Duration // when to retry, at the earliest; 0: unknown. Always set if Busy
	Cause   string        // for operators; contains neither the address nor anything that was sent or answered
}

// Call is one attempt to call an address, as Standard Webhooks specifies. ID is the same for every attempt; the signed
// time is that of the attempt.
type Call struct {
	Owner   string // who owns the endpoint: the endpoints of one owner that have not answered yet share a small part of the workers
	URL     string
	ID      string
	Body    []byte
	Secrets []string // each signs: there are two while an old one is being replaced
}

// Sender calls external addresses. It never waits longer than a single request may take.
type Sender interface {
	Webhook(ctx context.Context, call Call) Outcome
	// CheckURL refuses an address that must not be called. The error is for the user who wrote it.
	CheckURL(url string) error
}

// AddressBytesMax is the longest address of an endpoint.
const AddressBytesMax = 2048

// secretPrefix and secretBytes follow Standard Webhooks: 24 to 64 random bytes in base64.
const (
	secretPrefix = "whsec_"
	secretBytes  = 32
)

// NewSecret makes a secret that signs an endpoint's requests.
func NewSecret() string {
	b := make([]byte, secretBytes)
	rand.Read(b) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(b)
}
