package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/queue/admin"
)

func TestPeriodicRowsSayWhenTheyAreDue(t *testing.T) {
	now := time.Now()
	soon, before := now.Add(5*time.Minute), now.Add(-time.Hour)
	for want, p := range map[string]admin.Periodic{
		"a|core|k|every 1m30s|never|in 5m0s|0":              {ID: "a", Queue: "core", Kind: "k", EveryMs: 90_000, NextAt: &soon},
		"b|core|k|0 3 * * * Asia/Tokyo|1h0m0s ago|paused|7": {ID: "b", Queue: "core", Kind: "k", Cron: "0 3 * * *", Timezone: "Asia/Tokyo", Paused: true, LastAt: &before, Fired: 7},
	} {
		if got := strings.Join(periodicCells(p, now), "|"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
