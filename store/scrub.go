package store

import (
	"context"
	"strings"
)

// ErasuresUnderWay counts the erasures that are not done.
func (s *Erasures) ErasuresUnderWay(ctx context.Context) (n int, err error) {
	for cursor := uint64(0); ; {
		keys, next, err := s.conn.NextKeys(ctx, cursor, rangeBatch)
		if err != nil {
			return 0, fail("scan", err)
		}
		for _, key := range keys {
			base, isErasing := strings.CutSuffix(key, ":erasing")
			if _, user, ok := s.keys.followed(base); ok && isErasing && user != "" {
				n++
			}
		}
		if next == 0 {
			return n, nil
		}
		cursor = next
	}
}
