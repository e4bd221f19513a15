package deliver

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"

	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/egress"
)

const (
	userAgent     = "chatd"
	retryAfterMax = 24 * time.Hour // the longest that an address may put off a delivery
)

// Options are what a Sender needs.
type Options struct {
	// Allow are private networks that may be reached nevertheless, at any port and by plain http.
	Allow []netip.Prefix
	// PushHosts are push services besides those of browsers: see CheckPushHost.
	PushHosts []string
}

// Sender makes requests to external addresses.
type Sender struct {
	client   *http.Client
	gate     *gate
	allow    []netip.Prefix
	services []string
}

// New makes a Sender.
func New(opt Options) *Sender {
	s := &Sender{client: egress.Client(opt.Allow, egress.AnswerBytesMax), gate: newGate(), allow: opt.Allow, services: slices.Clone(services)}
	for _, host := range opt.PushHosts {
		s.services = append(s.services, strings.ToLower(host))
	}
	return s
}

// Close closes idle connections.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// CheckURL refuses an address that must not be called.
func (s *Sender) CheckURL(url string) error {
	_, err := egress.CheckURL(url, s.allow)
	return err
}

// Webhook calls an address as Standard Webhooks specifies.
func (s *Sender) Webhook(ctx context.Context, c webhook.Call) webhook.Outcome {
	r, err := signed(ctx, c)
	if err != nil {
		return webhook.Outcome{Verdict: webhook.Failed, Cause: err.Error()}
	}
	return s.Do(r, c.Owner)
}

// Do makes a request of an owner, unless its endpoint is busy. It takes at most 15 s, and ends with the context of r.
func (s *Sender) Do(r *http.Request, owner string) webhook.Outcome {
	most := endpointCap
	if s.isPushService(r.URL.Hostname()) {
		most = serviceCap
	}
	p, after := s.gate.enter(r.Context(), endpointOf(r.URL), owner, most)
	if p == nil {
		return webhook.Outcome{Verdict: webhook.Busy, After: after, Cause: "the host is busy, or failed too often"}
	}
	how, outcome := unknown, webhook.Outcome{}
	defer func() { s.gate.leave(p, how, outcome.After) }() // even if the request panics
	outcome, how = s.send(r)
	return outcome
}

// send makes the request and returns what it shows about the endpoint.
func (s *Sender) send(r *http.Request) (webhook.Outcome, health) {
	r.Header.Set("User-Agent", userAgent)
	answer, err := s.client.Do(r)
	if err != nil {
		outcome := webhook.Outcome{Verdict: webhook.Failed, Cause: cause(err)}
		if r.Context().Err() != nil {
			return outcome, unknown // ended by the caller: it shows nothing about the endpoint
		}
		return outcome, failing
	}
	// Read to the end, within the client's bounds, so that the connection can be reused. The content is ignored.
	_, _ = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	outcome := webhook.Outcome{Verdict: webhook.Failed, Status: answer.StatusCode, Cause: "answered " + strconv.Itoa(answer.StatusCode)}
	switch status := answer.StatusCode; {
	case status/100 == 2:
		return webhook.Outcome{Verdict: webhook.Delivered, Status: status}, healthy
	case status == http.StatusNotFound || status == http.StatusGone:
		outcome.Verdict = webhook.Gone
		return outcome, healthy
	case status == http.StatusTooManyRequests || status/100 == 5:
		outcome.After = retryAfter(answer.Header.Get("Retry-After"))
		return outcome, failing
	default:
		return outcome, healthy // it answers, and only refuses this request
	}
}

// retryAfter parses a Retry-After (RFC 9110, 10.2.3): seconds or a date. 0: none, or not valid.
func retryAfter(text string) time.Duration {
	if text == "" {
		return 0
	}
	if s, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.Duration(min(max(s, 0), int64(retryAfterMax/time.Second))) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(time.Until(at), 0), retryAfterMax)
}

// cause describes an error in our own words: an error of net/http contains the address, which is a secret in web push,
// and may contain data from the other end.
func cause(err error) string {
	var (
		timeout net.Error
		name    *net.DNSError
		cert    *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		alert   tls.AlertError
		number  syscall.Errno
	)
	switch {
	case errors.Is(err, context.Canceled):
		return "ended before an answer came"
	case errors.Is(err, ssrf.ErrProhibitedIP), errors.Is(err, ssrf.ErrProhibitedPort), errors.Is(err, ssrf.ErrProhibitedNetwork),
		errors.Is(err, egress.ErrOwn), errors.Is(err, egress.ErrPlain):
		return "the address is not public"
	case errors.As(err, &name):
		return "the name cannot be resolved"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	case errors.As(err, &cert):
		return "the certificate is not valid"
	case errors.As(err, &record), errors.As(err, &alert):
		return "no TLS connection"
	case errors.As(err, &number):
		return number.Error()
	default:
		return "the request failed"
	}
}
