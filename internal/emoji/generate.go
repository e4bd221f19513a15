//go:build ignore

// Generate makes table.txt from emoji-test.txt, which Unicode publishes under https://www.unicode.org/Public/.
package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

func main() {
	list, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	qualified := map[string]string{} // by the form without U+FE0F
	for line := range strings.Lines(string(list)) {
		points, status, ok := strings.Cut(line, ";")
		if status, _, _ = strings.Cut(status, "#"); !ok || strings.HasPrefix(line, "#") {
			continue
		}
		// A character that shows as a picture by itself, such as U+231A, is fully qualified without U+FE0F.
		if status = strings.TrimSpace(status); status != "fully-qualified" && status != "component" {
			continue
		}
		var emoji strings.Builder
		for _, point := range strings.Fields(points) {
			n, err := strconv.ParseUint(point, 16, 32)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			emoji.WriteRune(rune(n))
		}
		qualified[strings.ReplaceAll(emoji.String(), "\uFE0F", "")] = emoji.String()
	}
	patterns := map[string]int{} // how many emoji each stands for
	for _, emoji := range qualified {
		patterns[strings.Map(func(r rune) rune {
			if r >= 0x1F3FB && r <= 0x1F3FF {
				return 't'
			}
			return r
		}, emoji)]++
	}
	var all []string
	for pattern, n := range patterns {
		switch tones := strings.Count(pattern, "t"); {
		case tones == 0 && n == 1, tones == 1 && n == 5, tones == 2 && n == 25:
		case tones == 2 && n == 20:
			pattern = pattern[:strings.LastIndex(pattern, "t")] + strings.Replace(pattern[strings.LastIndex(pattern, "t"):], "t", "d", 1)
		default:
			fmt.Fprintf(os.Stderr, "%q stands for %d emoji\n", pattern, n)
			os.Exit(1)
		}
		all = append(all, pattern)
	}
	slices.Sort(all)
	var table strings.Builder
	for line := range slices.Chunk(all, 20) {
		table.WriteString(strings.Join(line, " ") + "\n")
	}
	if err := os.WriteFile("table.txt", []byte(table.String()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
