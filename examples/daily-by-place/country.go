package main

import (
	"net/netip"

	"github.com/oschwald/maxminddb-golang/v2"
)

// countriesOf looks addresses up in a MaxMind database: the code of the country, in upper case as the database has it.
func countriesOf(db *maxminddb.Reader) func(netip.Addr) string {
	return func(address netip.Addr) string {
		var code string
		if err := db.Lookup(address.Unmap()).DecodePath(&code, "country", "iso_code"); err != nil || code == "" {
			return unknown
		}
		return code
	}
}
