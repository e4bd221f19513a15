package redistest

import (
	"net/netip"
	"testing"
)

// TestAddressesAreApart hands out many addresses like two test processes, to each twice as many as its block has: no
// two tests have the same one at the same time, and none can be the port of an outgoing connection.
func TestAddressesAreApart(t *testing.T) {
	var one, other ports
	t.Cleanup(func() {
		_ = one.claim.Close()
		_ = other.claim.Close()
	})
	kept := one.addr(t)
	for range 4 {
		t.Run("round", func(t *testing.T) {
			held := map[string]bool{kept: true}
			for range blockPorts / 2 {
				for _, p := range []*ports{&one, &other} {
					addr := p.addr(t)
					if port := netip.MustParseAddrPort(addr).Port(); held[addr] || port < portMin || port >= portMax {
						t.Errorf("got %s, which is taken or out of range", addr)
					}
					held[addr] = true
				}
			}
		})
	}
}
