package store_test

import (
	"testing"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
)

// TestConformanceOnACluster runs the suite over three masters with a replica each.
func TestConformanceOnACluster(t *testing.T) {
	cluster := redistest.StartCluster(t, 3, 1)
	runSuite(t, func(t testing.TB, limits chat.Limits) *store.Store {
		return open(t, store.Options{URL: cluster.URL(), Partitions: 4, Limits: limits, Patience: patience})
	})
}
