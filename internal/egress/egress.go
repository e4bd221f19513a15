// Package egress makes the one HTTP client for addresses that come from configuration or from users: it reaches public
// addresses only by https, follows no redirect, uses no proxy, and reads a bounded part of an answer.
//
// The check happens when a connection is made, on the resolved address: neither an unusual spelling of an address nor a
// name that resolves differently the second time gets around it. CheckURL refuses addresses earlier only to help the
// person who wrote them; security does not depend on it.
package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// AnswerBytesMax is how much of an answer is read if its content does not matter.
const AnswerBytesMax = 64 << 10

// Bounds of a request.
const (
	dialTimeout    = 5 * time.Second
	totalTimeout   = 15 * time.Second // from the name lookup to the last byte of the answer
	headerBytesMax = 16 << 10
	idleTimeout    = 30 * time.Second
	idleMax        = 64 // idle connections kept for reuse, over all hosts
	idleHostMax    = 4  // of them to one host
	pingAfter      = 5 * time.Second
)

var (
	// ErrPlain means that plain http was requested outside the allowed networks.
	ErrPlain = errors.New("plain http is allowed only for networks in CHATD_EGRESS_ALLOW")
	// ErrAnswerTooLarge means that the body of an answer exceeds the client's bound.
	ErrAnswerTooLarge = errors.New("the response is too long")

	errScheme = errors.New("want https, or http to a network in CHATD_EGRESS_ALLOW")
	errSwitch = errors.New("the server switched protocols without being asked")
)

// Client returns a client that also reaches the networks of allow, at any port and by plain http. Reading more than
// answerBytesMax of an answer fails with ErrAnswerTooLarge; answers are never decompressed.
func Client(allow []netip.Prefix, answerBytesMax int) *http.Client {
	return newClient(net.DefaultResolver, newGuard(allow).control, answerBytesMax, totalTimeout)
}

// control makes the check that a dialer runs before it connects, for plain or secure connections.
type control func(plain bool) func(network, address string, c syscall.RawConn) error

func newClient(names *net.Resolver, check control, answerBytesMax int, timeout time.Duration) *http.Client {
	return &http.Client{
		Timeout: timeout,
		Transport: schemes{plain: newTransport(names, check(true)), secure: newTransport(names, check(false)),
			answerBytesMax: answerBytesMax},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func newTransport(names *net.Resolver, check func(network, address string, c syscall.RawConn) error) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, Control: check, Resolver: names}
	return &http.Transport{
		Proxy: nil,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, address)
		},
		TLSHandshakeTimeout:    dialTimeout,
		ResponseHeaderTimeout:  totalTimeout,
		MaxResponseHeaderBytes: headerBytesMax,
		DisableCompression:     true, // the bound counts the bytes on the wire
		MaxIdleConns:           idleMax,
		MaxIdleConnsPerHost:    idleHostMax,
		IdleConnTimeout:        idleTimeout,
		ForceAttemptHTTP2:      true,
		// One HTTP/2 connection carries all requests to a host: a dead one must not fail the next ones too.
		HTTP2: &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingAfter},
	}
}

// schemes sends plain and secure requests over separate transports, so that a connection checked for one is never used
// for the other, and caps the answers.
type schemes struct {
	plain, secure  *http.Transport
	answerBytesMax int
}

func (s schemes) RoundTrip(r *http.Request) (*http.Response, error) {
	by := s.secure
	switch r.URL.Scheme {
	case "https":
	case "http":
		by = s.plain
	default:
		return nil, errScheme
	}
	answer, err := by.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode == http.StatusSwitchingProtocols {
		// Its body is the connection itself, whose reads neither the timeout nor the context of the request would end.
		_ = answer.Body.Close()
		return nil, errSwitch
	}
	answer.Body = &capped{ReadCloser: answer.Body, left: s.answerBytesMax}
	return answer, nil
}

// CloseIdleConnections makes http.Client.CloseIdleConnections work.
func (s schemes) CloseIdleConnections() {
	s.plain.CloseIdleConnections()
	s.secure.CloseIdleConnections()
}

// capped ends a body with ErrAnswerTooLarge if it is longer than what is left.
type capped struct {
	io.ReadCloser
	left int
}

func (c *capped) Read(b []byte) (int, error) {
	if c.left < 0 {
		return 0, ErrAnswerTooLarge
	}
	// Reading one byte more than is left distinguishes a body that ends here from one that does not.
	n, err := c.ReadCloser.Read(b[:min(len(b), c.left+1)])
	if c.left -= n; c.left < 0 {
		return n - 1, ErrAnswerTooLarge
	}
	return n, err
}
