package doctor_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store/doctor"
)

// TestFullServerIsExamined: a full Redis refuses every transaction, also of reads. The doctor is asked just then.
func TestFullServerIsExamined(t *testing.T) {
	server := redistest.Start(t, "--appendonly", "yes")
	h := &fixture{Bench: chattest.Open(t, server.URL()), t: t, server: server}
	chattest.Work(t, h.Store, h.Service)
	h.live("g1")
	h.sound()
	server.Do("CONFIG", "SET", "maxmemory", "1mb")
	report := h.examine(false)
	if len(report.Findings) != 1 || report.Findings[0].Kind != "memory" || report.Keys == 0 {
		t.Errorf("%d keys examined, findings %+v; want that the server is full, and no other", report.Keys, report.Findings)
	}
}

// The database that the store is archived into may be away, gone, or another one.
func TestArchiveFindings(t *testing.T) {
	h := &fixture{Bench: chattest.Open(t, redistest.Start(t, "--appendonly", "yes").URL()), t: t}
	archiveID := func(id string, err error) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return id, err }
	}
	for _, c := range []struct {
		switched string // the id that the store knows; empty: it has no archive
		now      func(context.Context) (string, error)
		want     string
	}{
		{"", nil, ""},
		{"", archiveID("", errors.New("refused")), ""},
		{"db1", archiveID("db1", nil), ""},
		{"db1", archiveID("", errors.New("connection refused")), "the archive is away: pages that Redis has trimmed and searches are refused"},
		{"db1", archiveID("", nil), "the archive is gone or empty"},
		{"db1", archiveID("db2", nil), `another database (id "db2")`},
		{"db1", nil, "none is configured: set CHATD_ARCHIVE"},
	} {
		if c.switched != "" {
			h.Must(h.Store.SwitchArchive(h.Ctx, c.switched, true))
		}
		d, err := doctor.New(h.Store, doctor.Options{ArchiveID: c.now})
		h.Must(err)
		report, err := d.Check(h.Ctx)
		h.Must(err)
		got := ""
		for _, f := range report.Findings {
			if f.Kind == doctor.KindArchive {
				got += f.Message
			}
		}
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("switched to %q: found %q, want %q", c.switched, got, c.want)
		}
	}
}
