package doctor_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
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

// TestServerThatTakesNoWritesIsExamined: a replica, and a primary that has too few, are examined like any other, and nothing is
// repaired there.
func TestServerThatTakesNoWritesIsExamined(t *testing.T) {
	server := redistest.Start(t, "--appendonly", "yes")
	h := &fixture{Bench: chattest.Open(t, server.URL()), t: t, server: server}
	chattest.Work(t, h.Store, h.Service)
	h.live("g1")
	h.sound()
	server.Do(strings.Fields(h.keys("ZADD {u}bob:groups 0 nowhere"))...)
	for _, c := range []struct {
		refuse []string
		says   string
	}{
		{[]string{"CONFIG", "SET", "min-replicas-to-write", "2"}, "min-replicas-to-write is 2"},
		{[]string{"REPLICAOF", "127.0.0.1", "1"}, "read-only replica"},
	} {
		server.Do(c.refuse...)
		for _, repair := range []bool{false, true} {
			s, err := store.Open(h.Ctx, store.Options{URL: server.URL(), Existing: true})
			h.Must(err)
			d, err := doctor.New(s, doctor.Options{Repair: repair})
			h.Must(err)
			report, err := d.Run(h.Ctx)
			h.Must(errors.Join(err, s.Close()))
			var got []string
			for _, f := range report.Findings {
				got = append(got, string(f.Kind)+" "+f.Message)
				if f.Repaired || repair && f.Kind == doctor.KindIndex && !strings.Contains(f.Message, "not repaired") {
					t.Errorf("got %+v", f)
				}
			}
			if len(got) != 2 || !strings.Contains(got[0], c.says) || report.Findings[1].Kind != doctor.KindIndex || !report.Complete {
				t.Errorf("%v, repair %v: %d keys examined, findings %q", c.refuse, repair, report.Keys, got)
			}
		}
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
