package web

import (
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue/cron"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/wire"
)

// FuzzScheduleDraft: no body of POST /v1/schedules panics, and what is taken has times, ids and counts as the contract writes
// them.
func FuzzScheduleDraft(f *testing.F) {
	for _, seed := range []string{
		`{"group":"g","body":"x","at":"2026-11-20T10:00:00.000Z"}`, `{"user":"bob","body":"x","cron":"0 9 * * MON-FRI","timezone":"Europe/Berlin"}`,
		`{"user":"bob","data":{"a":[1]},"cron":"@daily","until":"2027-01-01T00:00:00+05:30","count":3,"misfire":"skip"}`,
		`{"at":"9999-12-31T23:59:59.999999999-23:59"}`, `{"at":"0000-01-01T00:00:00Z"}`, `{"at":"2026-11-20T10:00:60Z"}`, `{"count":9223372036854775807}`, `{"at":null}`, `[]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var b api.ScheduleDraft
		if wire.Decode(body, &b) != nil {
			return
		}
		d, err := scheduleDraft(&b)
		if err != nil {
			if chat.CodeOf(err) != chat.CodeInvalid {
				t.Errorf("%s: %v is no refusal of the request", body, err)
			}
			return
		}
		if d.Group != "" && !chat.ValidID(d.Group) || d.User != "" && !chat.ValidID(d.User) || d.Count != nil && *d.Count < 1 {
			t.Errorf("%s was taken as %+v", body, d)
		}
		for _, at := range []*time.Time{d.At, d.Until} {
			if at != nil && (at.Year() < -1 || at.Year() > 10_000) {
				t.Errorf("%s was taken as %v", body, at)
			}
		}
		if d.Cron == "" {
			return
		}
		if plan, err := cron.Parse(d.Cron, d.Timezone); err == nil {
			if next, ok := plan.Next(time.Unix(1_795_000_000, 0)); !ok || next.Unix() <= 1_795_000_000 {
				t.Errorf("%s: next is %v", body, next)
			}
		}
	})
}
