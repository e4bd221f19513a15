package limit

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

// Listen returns l with its connections counted by address for their whole life, also as websockets. Connections over the
// limit are answered with 429 and closed. Connections of proxies are not counted: they carry everybody.
func (l *Limits) Listen(inner net.Listener, proxies []netip.Prefix) net.Listener {
	if l == nil || l.conns == nil {
		return inner
	}
	return &listener{Listener: inner, limits: l, proxies: proxies, refusing: make(chan struct{}, refusingMax)}
}

type listener struct {
	net.Listener
	limits   *Limits
	proxies  []netip.Prefix
	refusing chan struct{}
}

// Bounds of refusing: only so many connections at once get an answer that says why, and only for a moment.
const (
	refusingMax     = 64
	refusingTimeout = time.Second
	requestBytes    = 16 << 10
)

const refusalBody = `{"type":"about:blank","title":"Too Many Requests","status":429,"code":"rate_limited","detail":"too many connections from this address"}` + "\n"

var refusalAnswer = "HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/problem+json\r\nConnection: close\r\n" +
	"Retry-After: 1\r\nContent-Length: " + strconv.Itoa(len(refusalBody)) + "\r\n\r\n" + refusalBody

func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		tcp, ok := c.(*net.TCPConn)
		peer, parseErr := netip.ParseAddrPort(c.RemoteAddr().String())
		from := peer.Addr().Unmap()
		if !ok || parseErr != nil || slices.ContainsFunc(l.proxies, func(p netip.Prefix) bool { return p.Contains(from) }) {
			return c, nil
		}
		if l.limits.EnterConn(from) == nil {
			return &countedConn{TCPConn: tcp, limits: l.limits, from: from}, nil
		}
		l.refuse(tcp)
	}
}

// refuse closes a connection and says why, if possible. It reads the request first: closing a connection with unread data
// resets it, and the answer might be lost.
func (l *listener) refuse(c *net.TCPConn) {
	select {
	case l.refusing <- struct{}{}:
	default:
		_ = c.Close()
		return
	}
	go func() {
		defer func() { <-l.refusing }()
		defer func() { _ = c.Close() }()
		_ = c.SetDeadline(time.Now().Add(refusingTimeout))
		_, _ = c.Read(make([]byte, requestBytes))
		_, _ = c.Write([]byte(refusalAnswer))
	}()
}

// countedConn is a connection that is counted until it is closed.
type countedConn struct {
	*net.TCPConn
	limits *Limits
	from   netip.Addr
	left   atomic.Bool
}

func (c *countedConn) Close() error {
	err := c.TCPConn.Close()
	if !c.left.Swap(true) {
		c.limits.LeaveConn(c.from)
	}
	return err
}
