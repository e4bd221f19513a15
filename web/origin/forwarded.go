package origin

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the networks whose forwarded headers count: anybody else could name any address and any host.
type Proxies []netip.Prefix

func (p Proxies) trust(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	return slices.ContainsFunc(p, func(proxy netip.Prefix) bool { return proxy.Contains(addr) })
}

func (p Proxies) trustPeer(r *http.Request) bool { return p.trust(peerOf(r)) }

func peerOf(r *http.Request) netip.Addr {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr) // none is not trusted
	return peer.Addr().Unmap()
}

// Address returns the address of the client: that of the connection, unless it is a trusted proxy's. Then it is the last one that
// is no proxy's of those in X-Forwarded-For, or in Forwarded where there is none of the former: each proxy appends the address
// that it was asked from. If that cannot be read, it is the address of the connection after all.
func (p Proxies) Address(r *http.Request) netip.Addr {
	peer := peerOf(r)
	if !p.trust(peer) {
		return peer
	}
	nearest := netip.Addr{}
	if list := strings.Join(r.Header["X-Forwarded-For"], ","); list != "" {
		for list != "" && (!nearest.IsValid() || p.trust(nearest)) {
			var node string
			list, node = cutLast(list, ',')
			if nearest = addressOf(node); !nearest.IsValid() {
				break
			}
		}
	} else {
		nearest = p.nearest(r.Header).addr
	}
	if !nearest.IsValid() {
		return peer
	}
	return nearest
}

// hop is an element of the header Forwarded (RFC 7239): what a proxy says of who asked it, and how.
type hop struct {
	addr        netip.Addr // of for; invalid where that is none
	proto, host string
}

// nearest returns the element of Forwarded that the trusted proxy nearest to the client wrote: the last one that is not about
// another trusted proxy. Those before it are the client's own.
func (p Proxies) nearest(h http.Header) (of hop) {
	for list := strings.Join(h["Forwarded"], ","); list != ""; {
		var element string
		list, element = cutLast(list, ',')
		if of = readHop(element); !of.addr.IsValid() || !p.trust(of.addr) {
			break
		}
	}
	return of
}

func readHop(element string) (of hop) {
	for element != "" {
		var pair string
		element, pair = cutLast(element, ';')
		name, value, _ := strings.Cut(pair, "=")
		switch value = unquoted(value); strings.ToLower(strings.TrimSpace(name)) {
		case "for":
			of.addr = addressOf(value)
		case "proto":
			of.proto = value
		case "host":
			of.host = value
		}
	}
	return of
}

// cutLast cuts off what follows the last separator outside of quotes. It reads from the end, which the nearest proxy wrote: a
// quote that a client left open does not reach there.
func cutLast(text string, separator byte) (rest, last string) {
	quoted := false
	for i := len(text) - 1; i >= 0; i-- {
		switch c := text[i]; {
		case c == '"':
			before := strings.TrimRight(text[:i], `\`)
			if escaped := (i-len(before))%2 == 1; !escaped {
				quoted = !quoted
			}
		case c == separator && !quoted:
			return text[:i], text[i+1:]
		}
	}
	return "", text
}

// addressOf reads an address as proxies write it: with a port or without, an IPv6 address in brackets or without.
func addressOf(node string) netip.Addr {
	node = strings.TrimSpace(node)
	if with, err := netip.ParseAddrPort(node); err == nil {
		return with.Addr().Unmap()
	}
	addr, _ := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(node, "["), "]")) // none is what it is then
	return addr.Unmap()
}

// first returns the first element of a list in a header: each proxy appends to what it got, so this is what the one
// nearest to the client says.
func first(h http.Header, name string) string {
	for _, line := range h[name] {
		for one := range strings.SplitSeq(line, ",") {
			if one = strings.TrimSpace(one); one != "" {
				return one
			}
		}
	}
	return ""
}

// unquoted returns a token or the content of a quoted string.
func unquoted(value string) string {
	value = strings.TrimSpace(value)
	inner, isQuoted := strings.CutPrefix(value, `"`)
	if !isQuoted {
		return value
	}
	var out strings.Builder
	for i := 0; i < len(inner) && inner[i] != '"'; i++ {
		if inner[i] == '\\' && i+1 < len(inner) {
			i++
		}
		out.WriteByte(inner[i])
	}
	return out.String()
}
