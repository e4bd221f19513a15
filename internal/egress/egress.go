// Package egress makes the one HTTP client for addresses that come from configuration or from users: it reaches public
// addresses by https alone, follows no redirect, uses no proxy, and reads no more of an answer than it was made for.
//
// The check stands where a connection is made, on the address that a name was resolved to: neither a spelling of an
// address nor a name that changes its address between two looks gains anything. What is refused before (CheckURL) is
// refused to tell the person who wrote it; nothing rests on it.
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

// AnswerBytesMax is as much of an answer as is read where nothing of it is needed but that it came.
const AnswerBytesMax = 64 << 10

// Bounds of a request.
const (
	dialTimeout    = 5 * time.Second
	totalTimeout   = 15 * time.Second // from the look at the name to the last byte of the answer
	headerBytesMax = 16 << 10
	idleTimeout    = 30 * time.Second
	idleMax        = 64 // connections kept for later requests, over all hosts
	idleHostMax    = 4  // of them to one host
	pingAfter      = 5 * time.Second
)

var (
	// ErrPlain tells that plain http was asked for outside the allowed networks.
	ErrPlain = errors.New("plain http is allowed only for networks in CHATD_EGRESS_ALLOW")
	// ErrAnswerTooLarge tells that the body of an answer is longer than the client was made for.
	ErrAnswerTooLarge = errors.New("the response is too long")

	errScheme = errors.New("want https, or http to a network in CHATD_EGRESS_ALLOW")
	errSwitch = errors.New("the server switched protocols without being asked")
)

// Client returns a client that also reaches the networks of allow, at any port and by plain http. Reading more than
// answerBytesMax of an answer is ErrAnswerTooLarge; answers are never unpacked.
func Client(allow []netip.Prefix, answerBytesMax int) *http.Client {
	return newClient(net.DefaultResolver, newGuard(allow).control, answerBytesMax, totalTimeout)
}

// control is what a dialer asks before it connects, for plain or for secure connections.
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
		DisableCompression:     true, // what is counted is what was sent
		MaxIdleConns:           idleMax,
		MaxIdleConnsPerHost:    idleHostMax,
		IdleConnTimeout:        idleTimeout,
		ForceAttemptHTTP2:      true,
		// One HTTP/2 connection carries all requests to a host: a dead one must not take the next ones with it.
		HTTP2: &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingAfter},
	}
}

// schemes sends plain and secure requests over transports of their own, so that a connection checked for one is never
// used for the other, and caps what is read of the answers.
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
		// Its body is the connection itself, on which neither the timeout nor the context of the request ends a read.
		_ = answer.Body.Close()
		return nil, errSwitch
	}
	answer.Body = &capped{ReadCloser: answer.Body, left: s.answerBytesMax}
	return answer, nil
}

// CloseIdleConnections is what http.Client.CloseIdleConnections looks for.
func (s schemes) CloseIdleConnections() {
	s.plain.CloseIdleConnections()
	s.secure.CloseIdleConnections()
}

// capped ends a body with ErrAnswerTooLarge where it goes on beyond what is left.
type capped struct {
	io.ReadCloser
	left int
}

func (c *capped) Read(b []byte) (int, error) {
	if c.left < 0 {
		return 0, ErrAnswerTooLarge
	}
	// One byte more than is left tells a body that ends here from one that does not.
	n, err := c.ReadCloser.Read(b[:min(len(b), c.left+1)])
	if c.left -= n; c.left < 0 {
		return n - 1, ErrAnswerTooLarge
	}
	return n, err
}
