package egress

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"
)

// ports are the allowed ports of public addresses.
var ports = []uint16{443, 8443}

const urlBytesMax = 2048

var (
	// ErrOwn means that an address belongs to this host.
	ErrOwn = errors.New("the address belongs to this host")

	errZone = errors.New("the address has a zone")
)

// guard decides which addresses may be reached.
type guard struct {
	allow []netip.Prefix
	safe  *ssrf.Guardian
	own   func() ([]net.Addr, error)
}

func newGuard(allow []netip.Prefix) *guard {
	return &guard{allow: allow, safe: ssrf.New(ssrf.WithPorts(ports...)), own: net.InterfaceAddrs}
}

// control checks the address of a connection that is about to be made.
func (g *guard) control(plain bool) func(network, address string, c syscall.RawConn) error {
	return func(network, address string, c syscall.RawConn) error {
		if err := g.safe.Safe(network, address, c); err != nil || plain {
			return g.exception(address, plain, err)
		}
		target, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return g.public(target.Addr())
	}
}

// exception permits the allowed networks where the rules for public addresses refuse.
func (g *guard) exception(address string, plain bool, refused error) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	switch {
	case g.allowed(target.Addr()):
		return nil
	case plain:
		return ErrPlain
	default:
		return refused
	}
}

// allowed treats an IPv4 address written as IPv6 as IPv4.
func (g *guard) allowed(a netip.Addr) bool {
	for _, p := range g.allow {
		if p.Contains(a.Unmap()) {
			return true
		}
	}
	return false
}

// public refuses addresses that look public but lead inside: the host's own addresses, and IPv6 addresses that embed an
// IPv4 address for a gateway to unwrap (ISATAP, RFC 5214: an interface id of 0000:5efe or 0200:5efe).
func (g *guard) public(a netip.Addr) error {
	if g.allowed(a) {
		return nil
	}
	if a.Zone() != "" {
		return errZone
	}
	if a.Is6() {
		b := a.As16()
		if b[8]&0xfd == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe {
			if err := g.safe.SafeAddr(netip.AddrFrom4([4]byte(b[12:]))); err != nil {
				return err
			}
		}
	}
	own, err := g.own()
	if err != nil {
		return fmt.Errorf("cannot list the addresses of this host: %w", err)
	}
	for _, o := range own {
		if n, ok := o.(*net.IPNet); ok {
			if mine, ok := netip.AddrFromSlice(n.IP); ok && mine.Unmap() == a.Unmap() {
				return ErrOwn
			}
		}
	}
	return nil
}

// CheckURL parses an address that someone wrote for the server to call, and refuses those that could never be reached:
// another scheme, a user name or password before the host, a port or an address that is not public. It does not look up
// names: every connection checks the resolved address. The errors are for the person who wrote the URL.
func CheckURL(raw string, allow []netip.Prefix) (*url.URL, error) {
	if len(raw) > urlBytesMax {
		return nil, fmt.Errorf("the URL must have at most %d bytes", urlBytesMax)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("not a URL")
	}
	host := u.Hostname()
	switch {
	case u.Scheme != "https" && (u.Scheme != "http" || len(allow) == 0):
		return nil, errors.New("the URL must begin with https://")
	case u.User != nil:
		return nil, errors.New("the URL must not contain a user name or password")
	case u.Fragment != "" || strings.HasSuffix(raw, "#"):
		return nil, errors.New("the URL must not contain a fragment")
	case u.Opaque != "" || host == "":
		return nil, errors.New("the URL has no host")
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		if err := checkName(host); err != nil {
			return nil, err
		}
	}
	g := newGuard(allow)
	if a.IsValid() && g.allowed(a) {
		return u, nil
	}
	if u.Scheme == "http" && a.IsValid() {
		return nil, ErrPlain
	}
	if a.IsValid() && (a.Zone() != "" || g.safe.SafeAddr(a) != nil || g.public(a) != nil) {
		return nil, errors.New("the address is not public")
	}
	// If there are allowed networks, a name may lead there, where every port is open: the connection will show.
	if port := u.Port(); port != "" && port != "443" && port != "8443" && (len(allow) == 0 || a.IsValid()) {
		return nil, errors.New("the port must be 443 or 8443")
	}
	return u, nil
}

// checkName accepts names as in DNS: ASCII only, so that no two spellings look alike, and with a last label that is not
// a number, because some resolvers read such names as addresses (127.1, 0x7f000001).
func checkName(host string) error {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 {
			return errors.New("the URL has no valid host")
		}
		for _, c := range []byte(label) {
			if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
				return errors.New("the host must be ASCII (write an international name as xn--...)")
			}
		}
	}
	if last := labels[len(labels)-1]; len(host) > 253 || last[0] >= '0' && last[0] <= '9' {
		return errors.New("the URL has no valid host")
	}
	return nil
}
