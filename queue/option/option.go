// Package option has what the options of a task share. Each option that is more than a number has a folder below: what it is in
// Go, how the specification of a task holds it, and what scripts do about it, in lua/. These packages know no tasks. What an
// option has to do with tasks and clients is in package queue, whose names for them programs use: queue.Limit is limit.Limit.
package option

import (
	"math"
	"strings"
	"time"
)

const (
	// NameBytesMax bounds a kind, a key and an id: they are names, not content.
	NameBytesMax = 256
	// PauseMax is the longest pause that an option or a handler may ask for.
	PauseMax = 30 * 24 * time.Hour
)

// IsKey tells whether a text can be the key of an option: it stands in a line of a specification.
func IsKey(text string) bool { return len(text) <= NameBytesMax && !strings.ContainsAny(text, "\r\n") }

// CeilMs rounds up to ms: nothing may start before it is due.
func CeilMs(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return int64((d-1)/time.Millisecond) + 1
}

// Span converts ms to a duration, capped at the longest one, 292 years.
func Span(ms int64) time.Duration {
	return time.Duration(min(ms, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
}
