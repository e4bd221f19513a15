package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
)

// writeTable writes a line for each day and a column for each place.
func writeTable(out io.Writer, all map[string]map[string]int64) error {
	countries := make(map[string]bool)
	for _, counts := range all {
		for country := range counts {
			countries[country] = true
		}
	}
	columns := slices.Sorted(maps.Keys(countries))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(first string, cell func(country string) any) {
		_, _ = fmt.Fprint(w, first, "\t") // Flush returns the error
		for _, country := range columns {
			_, _ = fmt.Fprint(w, cell(country), "\t")
		}
		_, _ = fmt.Fprintln(w)
	}
	row("day", func(country string) any { return country })
	for _, day := range slices.Sorted(maps.Keys(all)) {
		row(day, func(country string) any { return all[day][country] })
	}
	return w.Flush()
}
