// Package origin decides the pages of which sites may call the server: its own, whatever stands in front of it, and those
// in a list. It reads what proxies say of who asked them, and how.
package origin

import (
	"cmp"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Policy decides whose pages may call. It is safe for concurrent use.
type Policy struct {
	listed  map[string]bool
	proxies Proxies
	log     *slog.Logger
	refused refusals
}

// New makes a policy. listed are the exact origins of other sites that may call, such as https://app.example.com.
func New(listed []string, proxies Proxies, log *slog.Logger) *Policy {
	p := &Policy{listed: map[string]bool{}, proxies: proxies, log: log}
	for _, o := range listed {
		p.listed[o] = true
		if scheme, host, ok := parse(o); ok { // browsers leave out the default port
			p.listed[scheme+"://"+strings.TrimSuffix(host, ":"+defaultPorts[scheme])] = true
		}
	}
	return p
}

// Allows reports whether the page that made a request may call: one of this server, one of a listed origin, or none at all.
// Unlike cookies, tokens are never sent on their own, so clients that are no browsers need no check. It warns of other
// origins, each once an hour.
func (p *Policy) Allows(r *http.Request) bool {
	values := r.Header["Origin"]
	if p.Same(r) || len(values) == 1 && p.listed[values[0]] {
		return true
	}
	p.warn(r, strings.Join(values, ", "))
	return false
}

// Same reports whether a request comes from a page of this very server, or from no page at all.
func (p *Policy) Same(r *http.Request) bool {
	values := r.Header["Origin"]
	if len(values) != 1 {
		return len(values) == 0
	}
	scheme, host, ok := parse(values[0])
	if !ok {
		return false
	}
	schemes, hosts := p.asked(r)
	return slices.Contains(schemes, scheme) && slices.ContainsFunc(hosts, func(asked string) bool {
		asked, ok := withPort(asked, scheme)
		return ok && asked == host
	})
}

// Lists reports whether an origin, as browsers write it, is in the list of other sites.
func (p *Policy) Lists(origin string) bool { return p.listed[strings.ToLower(origin)] }

// Shows reports whether a request shows that a page of this very server made it: by its Origin, or by what browsers say of the site.
// What goes by a cookie needs that, for a browser sends one on its own.
func (p *Policy) Shows(r *http.Request) bool {
	if r.Header["Origin"] != nil {
		return p.Same(r)
	}
	return r.Header.Get("Sec-Fetch-Site") == "same-origin"
}

// Of is the origin by which the client asked, as far as anybody says.
func (p *Policy) Of(r *http.Request) string {
	schemes, hosts := p.asked(r)
	host := hosts[0]
	for _, said := range hosts[1:] {
		host = cmp.Or(said, host)
	}
	return schemes[0] + "://" + host
}

// asked returns the schemes and hosts by which the client may have asked: those of the connection, and what trusted proxies
// say of the hop nearest to the client. Proxies disagree about the headers that they set, and leave those of others as they are; a page
// can set none of them, so each may be right.
func (p *Policy) asked(r *http.Request) (schemes, hosts []string) {
	hosts = []string{r.Host}
	if p.proxies.trustPeer(r) {
		nearest := p.proxies.nearest(r.Header)
		for _, said := range []string{first(r.Header, "X-Forwarded-Proto"), nearest.proto} {
			if scheme := schemeOf(said); scheme != "" {
				schemes = append(schemes, scheme)
			}
		}
		hosts = append(hosts, first(r.Header, "X-Forwarded-Host"), nearest.host)
	}
	switch {
	case len(schemes) > 0:
	case r.TLS != nil:
		schemes = []string{"https"}
	default:
		schemes = []string{"http"}
	}
	return schemes, hosts
}

var defaultPorts = map[string]string{"http": "80", "https": "443"}

// schemeOf is the scheme of an origin whose page uses a protocol: Traefik calls that of websockets by their own name.
func schemeOf(protocol string) string {
	switch strings.ToLower(protocol) {
	case "http", "ws":
		return "http"
	case "https", "wss":
		return "https"
	}
	return ""
}

// parse splits an origin into its scheme and its host with the port. An origin has no path, and "null" is none.
func parse(origin string) (scheme, host string, ok bool) {
	scheme, host, _ = strings.Cut(origin, "://")
	if _, known := defaultPorts[scheme]; !known {
		return "", "", false
	}
	host, ok = withPort(host, scheme)
	return scheme, host, ok
}

// withPort gives a host the form in which two can be compared: lower case, and with its port, which may be the default.
func withPort(host, scheme string) (string, bool) {
	host = strings.ToLower(host)
	name, port, err := net.SplitHostPort(host)
	if err != nil { // no port
		name, port = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), ""
	}
	if port == "" {
		port = defaultPorts[scheme]
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return net.JoinHostPort(name, port), err == nil && name != "" && !strings.ContainsAny(name, "/?#@\\[] ")
}
