package egress

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"code.dny.dev/ssrf"
)

// private are addresses that no request may reach, one or more of every kind.
var private = []string{
	"127.0.0.1", "127.0.0.0", "127.1.2.3", "127.255.255.254", // loopback
	"0.0.0.0", "0.1.2.3", "0.255.255.255", // this network: Linux treats 0.0.0.0 as this host
	"10.0.0.0", "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255",
	"169.254.169.254", "169.254.170.2", "169.254.0.1", // cloud metadata
	"100.64.0.1", "100.100.100.200", "100.127.255.255", // carrier-grade NAT
	"192.0.0.1", "192.0.0.192", "192.0.0.255", "192.0.2.1", "198.51.100.1", "203.0.113.1", // protocols, documentation
	"192.88.99.1", "192.31.196.1", "192.52.193.1", "192.175.48.1", "198.18.0.1", "198.19.255.255",
	"224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
	"[::1]", "[::]", "[::7f00:1]", "[::127.0.0.1]", // loopback, and IPv4 in compatible form
	"[fe80::1]", "[febf::1]", "[fec0::1]", "[fc00::1]", "[fd00:ec2::254]", "[fdff::1]",
	"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:10.0.0.1]", "[::ffff:169.254.169.254]", "[::ffff:0:127.0.0.1]",
	"[64:ff9b::7f00:1]", "[64:ff9b::169.254.169.254]", "[64:ff9b:1::1]", // NAT64
	"[2002:7f00:1::]", "[2002:a9fe:a9fe::1]", "[2001:0:7f00:1::1]", "[2001:0:4136:e378:8000:63bf:80ff:fffe]", // 6to4, Teredo
	"[2001:db8::1]", "[3fff::1]", "[2001:10::1]", "[2001:20::1]", "[2620:4f:8000::1]", "[100::1]", "[5f00::1]",
	"[ff02::1]", "[ff0e::1]", "[4000::1]", "[8000::1]",
	"[2606:4700::5efe:7f00:1]", "[2606:4700::200:5efe:10.0.0.1]", // ISATAP
	"[fe80::1%25lo]", "[::1%25lo]", "[2606:4700::1%25lo]", // with a zone
}

// spelled are other ways to write 127.0.0.1; the test's name server resolves them as the old C function does.
var spelled = []string{
	"127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "0x7f.0x0.0x0.0x1", "127.0.0.01",
	"127.0.0.1.", "[::1].", "LOCALHOST", "localhost.", "loopback.example", "loopback.example.", "user@loopback.example",
	"example.com:secret@127.0.0.1", "example.com@127.0.0.1", "127。0。0。1", "127.0.0.1", "①②⑦.0.0.1", "127%2e0%2e0%2e1",
	"example.com#@127.0.0.1", "example.com%00@127.0.0.1", `example.com\@127.0.0.1`, "[::ffff:7f.0.0.1]",
}

func loopback(string) []netip.Addr {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")}
}

func get(client *http.Client, url string) error {
	answer, err := client.Get(url)
	if err != nil {
		return err
	}
	return errors.Join(errors.New("answered "+answer.Status), answer.Body.Close())
}

// countConnections listens on a port of this host until the test ends, and counts the connections that get through.
func countConnections(t *testing.T) (port int, accepted *atomic.Int64) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accepted = new(atomic.Int64)
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			accepted.Add(1)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().(*net.TCPAddr).Port, accepted
}

func TestNothingPrivateIsReached(t *testing.T) {
	port, accepted := countConnections(t)

	g := newGuard(nil)
	g.safe = ssrf.New(ssrf.WithPorts(uint16(port)))
	p := &probe{guard: g}
	client := newClient(resolver(t, loopback), p.control, AnswerBytesMax, 5*time.Second)
	if n := len(private) + len(spelled); n < 60 {
		t.Fatalf("got %d vectors, want 60 at least", n)
	}
	for _, host := range private {
		asked := p.asked.Load()
		err := get(client, fmt.Sprintf("https://%s:%d/", host, port))
		if err == nil || errors.As(err, new(stopped)) || strings.Contains(err.Error(), "connection refused") {
			t.Errorf("%s: got %v, want a refusal", host, err)
		}
		if p.asked.Load() == asked {
			t.Errorf("%s: refused before the connection (%v), so the guard was not tried", host, err)
		}
	}
	for _, scheme := range []string{"https", "http", "ftp", "file", "gopher"} {
		for _, host := range spelled {
			for _, url := range []string{fmt.Sprintf("%s://%s:%d/", scheme, host, port), scheme + "://" + host + "/"} {
				if strings.Contains(host, "#") {
					continue // only for the check of URLs below: in a request it is example.com
				}
				if err := get(client, url); err == nil || errors.As(err, new(stopped)) {
					t.Errorf("%s: got %v, want a refusal", url, err)
				}
			}
		}
	}
	if n := p.passed.Load(); n != 0 {
		t.Errorf("%d connections passed, the last to %v", n, p.last.Load())
	}
	if n := accepted.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
	for _, host := range append(private, spelled...) {
		if u, err := CheckURL("https://"+host+"/hook", nil); err == nil && host != "LOCALHOST" && host != "localhost." && !strings.HasPrefix(host, "loopback.example") {
			t.Errorf("a URL of %s was taken as %s", host, u)
		}
	}
}

func TestThePublicIsReached(t *testing.T) {
	p := &probe{guard: newGuard(nil)}
	client := newClient(resolver(t, func(string) []netip.Addr { return []netip.Addr{netip.MustParseAddr("1.1.1.1")} }),
		p.control, AnswerBytesMax, 5*time.Second)
	for i, url := range []string{"https://1.1.1.1/", "https://[2606:4700:4700::1111]/", "https://hooks.example/", "https://hooks.example:8443/",
		"https://[::ffff:1.1.1.1]/"} {
		if err := get(client, url); !errors.As(err, new(stopped)) {
			t.Errorf("%s: got %v, want a connection", url, err)
		}
		if n := p.passed.Load(); n != int64(i+1) {
			t.Errorf("%s: got %d connections, want %d", url, n, i+1)
		}
		if _, err := CheckURL(url, nil); err != nil && !strings.Contains(url, "ffff") {
			t.Errorf("%s: got %v, want it taken", url, err)
		}
	}
	for _, url := range []string{"http://1.1.1.1/", "https://1.1.1.1:80/", "https://1.1.1.1:22/", "https://hooks.example:6379/", "http://hooks.example:443/"} {
		if err := get(client, url); err == nil || errors.As(err, new(stopped)) {
			t.Errorf("%s: got %v, want a refusal", url, err)
		}
		if _, err := CheckURL(url, nil); err == nil {
			t.Errorf("%s was taken", url)
		}
	}
}

func TestOwnAddressesAreNotPublic(t *testing.T) {
	g := newGuard(nil)
	g.own = func() ([]net.Addr, error) {
		return []net.Addr{&net.IPNet{IP: net.ParseIP("1.2.3.4"), Mask: net.CIDRMask(24, 32)}, &net.IPNet{IP: net.ParseIP("2606:4700::9"), Mask: net.CIDRMask(64, 128)}}, nil
	}
	for address, want := range map[string]error{"1.2.3.4:443": ErrOwn, "[2606:4700::9]:443": ErrOwn, "1.2.3.5:443": nil, "[2606:4700::8]:443": nil} {
		network := "tcp4"
		if strings.HasPrefix(address, "[") {
			network = "tcp6"
		}
		if err := g.control(false)(network, address, nil); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", address, err, want)
		}
	}
	g.own = func() ([]net.Addr, error) { return nil, errors.New("no such thing") }
	if err := g.control(false)("tcp4", "1.2.3.5:443", nil); err == nil {
		t.Error("an address passed although the host's own are not known")
	}
}

// TestRebinding has names that resolve to the internet first and to this host a moment later, or to both at once: the
// check applies to the address that is connected to.
func TestRebinding(t *testing.T) {
	port, accepted := countConnections(t)

	publicly, home := netip.MustParseAddr("1.1.1.1"), netip.MustParseAddr("127.0.0.1")
	var looks atomic.Int64
	names := resolver(t, func(name string) []netip.Addr {
		switch n := looks.Add(1) / 2; { // each lookup asks twice, for A and for AAAA
		case strings.HasPrefix(name, "both"):
			return []netip.Addr{publicly, home}
		case n%2 == 0:
			return []netip.Addr{publicly}
		default:
			return []netip.Addr{home, netip.MustParseAddr("::1")}
		}
	})
	g := newGuard(nil)
	g.safe = ssrf.New(ssrf.WithPorts(uint16(port)))
	p := &probe{guard: g}
	client := newClient(names, p.control, AnswerBytesMax, 5*time.Second)
	const tries = 1000
	for i := range tries {
		name := "turning"
		if i%2 == 1 {
			name = "both"
		}
		if _, err := CheckURL("https://"+name+".example/", nil); err != nil {
			t.Fatal(err)
		}
		if err := get(client, fmt.Sprintf("https://%s%d.example:%d/", name, i, port)); err == nil {
			t.Fatal("got an answer")
		}
	}
	if n := accepted.Load(); n != 0 {
		t.Errorf("got %d connections to this host in %d tries, want 0", n, tries)
	}
	if asked, passed := p.asked.Load(), p.passed.Load(); asked-passed < tries/2 || passed < tries/4 {
		t.Errorf("got %d addresses refused and %d passed: the names did not turn", asked-passed, passed)
	}
}

// FuzzURL: whatever URL is accepted, and whatever addresses its name resolves to, connections only go to public
// addresses at allowed ports.
func FuzzURL(f *testing.F) {
	for _, host := range append(private, spelled...) {
		f.Add("https://"+host+"/", []byte{127, 0, 0, 1})
		f.Add("https://"+host+":8443/", netip.IPv6Loopback().AsSlice())
	}
	f.Add("https://hooks.example/a?b=c", []byte{1, 1, 1, 1})
	f.Add("http://hooks.example/", []byte{10, 0, 0, 1})
	f.Add("https://hooks.example:22/", []byte{192, 168, 0, 1})
	var answer atomic.Value
	p := &probe{guard: newGuard(nil)}
	client := newClient(resolver(f, func(string) []netip.Addr { return answer.Load().([]netip.Addr) }), p.control, AnswerBytesMax, time.Second)
	f.Fuzz(func(t *testing.T, raw string, address []byte) {
		var found []netip.Addr
		if a, ok := netip.AddrFromSlice(address); ok {
			found = append(found, a)
		}
		answer.Store(found)
		u, err := CheckURL(raw, nil)
		if err != nil {
			return
		}
		if u.Scheme != "https" || u.User != nil {
			t.Fatalf("took %q", raw)
		}
		before := p.passed.Load()
		if err := get(client, u.String()); err == nil {
			t.Fatalf("%q was answered", raw)
		}
		if p.passed.Load() == before {
			return
		}
		target := netip.MustParseAddrPort(p.last.Load().(string))
		a := target.Addr().Unmap()
		if !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() ||
			a.Zone() != "" || target.Port() != 443 && target.Port() != 8443 {
			t.Errorf("%q reached %s", raw, target)
		}
	})
}
