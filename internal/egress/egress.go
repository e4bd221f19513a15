// Package egress makes the one HTTP client for addresses that come from configuration or from users: it reaches public
// addresses by https alone, follows no redirect and uses no proxy.
package egress

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// Bounds of a request.
const (
	dialTimeout    = 5 * time.Second
	totalTimeout   = 15 * time.Second
	headerBytesMax = 16 << 10
)

// ports are those that a public address may be reached at.
var ports = []uint16{443, 8443}

// ErrPlain tells that plain http was asked for outside the allowed networks.
var ErrPlain = errors.New("plain http is for allowed networks only")

// Client returns a client that also reaches the networks of allow, at any port and by plain http. The check stands where
// the connection is made, on the address that the name was resolved to: a name that changes its address gains nothing.
func Client(allow []netip.Prefix) *http.Client {
	guard := ssrf.New(ssrf.WithPorts(ports...))
	allowed := func(address string) bool {
		target, err := netip.ParseAddrPort(address)
		if err != nil {
			return false
		}
		for _, p := range allow {
			if p.Contains(target.Addr().Unmap()) {
				return true
			}
		}
		return false
	}
	control := func(plain bool) func(network, address string, c syscall.RawConn) error {
		return func(network, address string, c syscall.RawConn) error {
			switch {
			case allowed(address):
				return nil
			case plain:
				return ErrPlain
			default:
				return guard.Safe(network, address, c)
			}
		}
	}
	return &http.Client{
		Timeout:       totalTimeout,
		Transport:     schemes{plain: transport(control(true)), secure: transport(control(false))},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func transport(control func(network, address string, c syscall.RawConn) error) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, Control: control}
	return &http.Transport{
		Proxy: nil,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, address)
		},
		TLSHandshakeTimeout:    dialTimeout,
		ResponseHeaderTimeout:  totalTimeout,
		MaxResponseHeaderBytes: headerBytesMax,
		MaxIdleConnsPerHost:    2,
		IdleConnTimeout:        30 * time.Second,
		ForceAttemptHTTP2:      true,
	}
}

// schemes sends plain and secure requests over transports of their own, so that a connection checked for one is never
// used for the other.
type schemes struct {
	plain, secure http.RoundTripper
}

func (s schemes) RoundTrip(r *http.Request) (*http.Response, error) {
	switch r.URL.Scheme {
	case "https":
		return s.secure.RoundTrip(r)
	case "http":
		return s.plain.RoundTrip(r)
	default:
		return nil, errors.New("only http and https")
	}
}
