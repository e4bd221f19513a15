package redistest

import (
	"net"
	"slices"
	"testing"
)

// TLS names the files of an authority and of a certificate for 127.0.0.1 that it signed.
type TLS struct{ CA, Cert, Key string }

// settings are what a server needs to take TLS at a port, and to use it with the others.
func (c TLS) settings(port string) [][2]string {
	return [][2]string{
		{"tls-port", port}, {"tls-cert-file", c.Cert}, {"tls-key-file", c.Key}, {"tls-ca-cert-file", c.CA}, {"tls-auth-clients", "no"},
		{"tls-replication", "yes"},
	}
}

// StartTLS is Start with a second port for TLS, which Public returns.
func StartTLS(tb testing.TB, files TLS, extra ...string) *Server {
	tb.Helper()
	s := prepare(tb, Redis, func(dir, port string) []string { return append(alone(dir, port), extra...) })
	s.putTLS(files)
	s.run()
	return s
}

// StartTLSSentinel is StartSentinel over TLS, for a primary of StartTLS. Public returns its port for TLS.
func StartTLSSentinel(tb testing.TB, name string, primary *Server, files TLS) *Server {
	tb.Helper()
	addr := FreeAddr(tb)
	_, port, _ := net.SplitHostPort(addr)
	var lines []string
	for _, s := range files.settings(port) {
		lines = append(lines, s[0]+" "+s[1])
	}
	sentinel := StartSentinel(tb, name, primary, lines...)
	sentinel.public = addr
	return sentinel
}

// StartTLSCluster is StartCluster with masters that use TLS with each other. Public is where each takes clients over TLS.
func StartTLSCluster(tb testing.TB, masters int, files TLS, extra ...string) *Cluster {
	tb.Helper()
	c := &Cluster{tb: tb, masters: masters, Nodes: make([]*Server, masters), tls: &files}
	return form(c, slices.Repeat([]string{Redis}, masters), extra...)
}

// putTLS gives a server that does not run yet a port for TLS.
func (s *Server) putTLS(files TLS, extra ...string) {
	s.tb.Helper()
	s.public = FreeAddr(s.tb)
	_, port, _ := net.SplitHostPort(s.public)
	for _, setting := range files.settings(port) {
		s.args = append(s.args, "--"+setting[0], setting[1])
	}
	s.args = append(s.args, extra...)
}
