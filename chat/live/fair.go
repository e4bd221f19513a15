package live

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// share is how many messages are read of each of n logs before it is known how much there is: enough that the usual
// case takes one round trip, not so much that the store reads a lot for nothing for a user of many groups.
func share(limit, n int) int {
	n = max(n, 1)
	return max(1, min(limit, (4*limit+n-1)/n))
}

// fill gives limit messages out to logs that owe owed[i] each, like water finds its level: what a log does not need
// goes to the others, so a busy log never starves a quiet one. The result is how many each may serve.
//
// Where not even one message each is to be had, the logs that owe the fewest come first; the last one is drawn from all
// others, so that under lasting overload a busy log is served now and then too.
func fill(owed []int64, limit int) []int {
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
		level := (limit + left - 1) / left // rounded up: what is left over goes to the first
		quota[i] = int(min(owed[i], int64(level)))
		limit -= quota[i]
	}
	return quota
}

// fit decides how many messages of each log go into one answer of at most bytesMax bytes. sizes holds, per log, the
// bytes of its messages in order. The logs take turns, one message each; a message that is larger than all that is
// allowed goes alone, so every answer has one.
func fit(sizes [][]int, bytesMax int) []int {
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
				continue // what comes later in this log must not overtake, so it has had its last turn
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
