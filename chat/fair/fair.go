// Package fair divides what one answer has room for among several logs: how many messages, and how many bytes.
package fair

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// Fill divides limit messages among logs with owed[i] new ones each. What a log does not need goes to the others, so a busy
// log never starves a quiet one. The result is how many messages each may serve.
//
// If limit is less than one message each, the logs with the fewest come first. The last one is drawn at random from all
// others, so that busy logs are served now and then under lasting overload, too.
func Fill(owed []int64, limit int) []int {
	quota := make([]int, len(owed))
	var order []int
	for i := range owed {
		if owed[i] > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(owed[a], owed[b]) })
	if n := len(order); limit > 1 && n > limit {
		other := limit - 1 + rand.IntN(n-limit+1)
		order[limit-1], order[other] = order[other], order[limit-1]
	}
	for k, i := range order {
		left := len(order) - k
		level := (limit + left - 1) / left // rounded up: the remainder goes to the first
		quota[i] = int(min(owed[i], int64(level)))
		limit -= quota[i]
	}
	return quota
}

// Fit decides how many messages of each log go into one answer of at most bytesMax bytes. sizes holds the bytes of each
// log's messages, in order. The logs take turns, one message each. A message larger than bytesMax goes alone, so every
// answer has at least one.
func Fit(sizes [][]int, bytesMax int) []int {
	served := make([]int, len(sizes))
	var turn []int
	for i := range sizes {
		if len(sizes[i]) > 0 {
			turn = append(turn, i)
		}
	}
	slices.SortStableFunc(turn, func(a, b int) int { return cmp.Compare(len(sizes[a]), len(sizes[b])) })
	bytes := 0
	for len(turn) > 0 {
		still := turn[:0]
		for _, i := range turn {
			size := sizes[i][served[i]]
			if bytes > 0 && bytes+size > bytesMax {
				continue // later messages of this log must not overtake this one, so the log gets no more turns
			}
			served[i]++
			bytes += size
			if served[i] < len(sizes[i]) {
				still = append(still, i)
			}
		}
		turn = still
	}
	return served
}
