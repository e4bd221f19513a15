package egress

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// resolver lets answer resolve every name, over a pipe in memory: it does not use /etc/resolv.conf.
func resolver(t testing.TB, answer func(name string) []netip.Addr) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go serveNames(t, server, answer)
		return client, nil
	}}
}

// serveNames answers questions as a name server does over TCP (RFC 1035, 4.2.2) until the other end closes.
func serveNames(t testing.TB, c net.Conn, answer func(name string) []netip.Addr) {
	defer c.Close()
	for {
		var size [2]byte
		if _, err := io.ReadFull(c, size[:]); err != nil {
			return
		}
		raw := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(c, raw); err != nil {
			return
		}
		var m dnsmessage.Message
		if err := m.Unpack(raw); err != nil {
			t.Errorf("got a question that cannot be read: %v", err)
			return
		}
		q := m.Questions[0]
		m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
		head := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: 0}
		for _, a := range answer(strings.TrimSuffix(q.Name.String(), ".")) {
			switch {
			case q.Type == dnsmessage.TypeA && a.Is4():
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: a.As4()}})
			case q.Type == dnsmessage.TypeAAAA && a.Is6():
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
			}
		}
		packed, err := m.Pack()
		if err != nil {
			t.Errorf("got %v packing an answer", err)
			return
		}
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(packed))), packed...)); err != nil {
			return
		}
	}
}

// probe is a guard that counts connections to the internet and then stops them. A connection to this host that passes
// is made, so that a listener sees it.
type probe struct {
	guard  *guard
	asked  atomic.Int64
	passed atomic.Int64
	last   atomic.Value // string: the last address that passed
}

type stopped struct{}

func (stopped) Error() string { return "stopped: nothing leaves this host" }

func (p *probe) control(plain bool) func(network, address string, c syscall.RawConn) error {
	check := p.guard.control(plain)
	return func(network, address string, c syscall.RawConn) error {
		p.asked.Add(1)
		if err := check(network, address, c); err != nil {
			return err
		}
		p.passed.Add(1)
		p.last.Store(address)
		if target, err := netip.ParseAddrPort(address); err == nil && target.Addr().Unmap().IsLoopback() {
			return nil
		}
		return stopped{}
	}
}
