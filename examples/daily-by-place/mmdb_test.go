package main

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"
)

// mmdb writes a database of countries as the MaxMind DB format 2.0 describes it (https://maxmind.github.io/MaxMind-DB/): a binary
// tree over the bits of addresses, IPv4 below ::/96, then the records, then what it says of itself.
func mmdb(countries map[netip.Prefix]string) []byte {
	const leaf = 1 << 31
	nodes, records := [][2]uint32{{}}, []byte(nil)
	for prefix, code := range countries {
		bits, length := prefix.Addr().As16(), prefix.Bits()
		if prefix.Addr().Is4() {
			bits, length = netip.IPv6Unspecified().As16(), length+96
			four := prefix.Addr().As4()
			copy(bits[12:], four[:])
		}
		at := uint32(0)
		for i := range length {
			bit := bits[i/8] >> (7 - i%8) & 1
			switch {
			case i == length-1:
				nodes[at][bit] = leaf | uint32(len(records))
			case nodes[at][bit] == 0:
				nodes = append(nodes, [2]uint32{})
				nodes[at][bit] = uint32(len(nodes) - 1)
				fallthrough
			default:
				at = nodes[at][bit]
			}
		}
		records = slices.Concat(records, mapOf(1), text("country"), mapOf(1), text("iso_code"), text(code))
	}
	var tree []byte
	count := uint32(len(nodes))
	for _, node := range nodes {
		for _, to := range node {
			switch {
			case to == 0:
				to = count // nothing is known
			case to&leaf != 0:
				to = to&^leaf + count + 16
			}
			tree = append(tree, byte(to>>16), byte(to>>8), byte(to))
		}
	}
	about := slices.Concat([]byte("\xab\xcd\xefMaxMind.com"), mapOf(9),
		text("binary_format_major_version"), number(5, 2), text("binary_format_minor_version"), number(5, 0), text("build_epoch"), []byte{0x01, 0x02, 1},
		text("database_type"), text("Test-Country"), text("description"), mapOf(0), text("languages"), []byte{0x00, 0x04},
		text("ip_version"), number(5, 6), text("node_count"), number(6, count), text("record_size"), number(5, 24))
	return slices.Concat(tree, make([]byte, 16), records, about)
}

func mapOf(pairs int) []byte { return []byte{7<<5 | byte(pairs)} }
func text(s string) []byte   { return append([]byte{2<<5 | byte(len(s))}, s...) } // of up to 28 bytes

// number is an unsigned integer of 16 (kind 5) or 32 bits (kind 6), without the zeros that it begins with.
func number(kind byte, n uint32) []byte {
	digits := strings.TrimLeft(string(binary.BigEndian.AppendUint32(nil, n)), "\x00")
	return append([]byte{kind<<5 | byte(len(digits))}, digits...)
}
