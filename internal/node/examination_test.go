package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/doctor"
	"github.com/chatd/chatd/web/api"
)

// TestExaminationIsKnownEverywhere: every node tells of the one that runs on another, none begins a second, and any may stop it. The
// result stays, with the first findings; that of a failure and of a node that stops, too.
func TestExaminationIsKnownEverywhere(t *testing.T) {
	s, err := store.Open(t.Context(), store.Options{URL: redistest.Start(t).URL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	fails := errors.New("fails")
	end := make(chan error, 1)
	nodes, cancels := map[string]*examination{}, map[string]context.CancelFunc{}
	var running sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		e := newExamination(s, name, slog.New(slog.DiscardHandler), func(ctx context.Context, o doctor.Options) (doctor.Report, error) {
			for i := range examinationShown + 50 {
				o.Found(doctor.Finding{Kind: doctor.KindOrphan, Key: fmt.Sprint(i), Repair: "drop it", Repaired: o.Repair && i > 9})
			}
			o.Progress(5, 10)
			select {
			case err := <-end:
				return doctor.Report{Complete: err == nil}, err
			case <-ctx.Done():
				return doctor.Report{}, nil
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		running.Go(func() { e.run(ctx) })
		nodes[name], cancels[name] = e, cancel
	}
	t.Cleanup(running.Wait)
	t.Cleanup(cancels["b"])
	t.Cleanup(cancels["a"])
	var run api.DoctorRun
	eventually := func(on, what string, is func() bool) {
		t.Helper()
		harness.Eventually(t, time.Minute, what, func() (err error) {
			if run, err = nodes[on].Latest(t.Context()); err == nil && !is() {
				err = fmt.Errorf("got %+v", run)
			}
			return err
		})
	}
	begin := func(repair bool) string {
		t.Helper()
		begun, err := nodes["a"].Begin(t.Context(), repair)
		if err != nil || begun.State != api.DoctorRunning {
			t.Fatal(begun, err)
		}
		return begun.Id
	}
	if _, err := nodes["a"].Latest(t.Context()); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("none yet: got %v", err)
	}

	id := begin(true)
	eventually("b", "the other node shows how far it is", func() bool { return run.Id == id && run.Keys == 5 && run.KeysTotal == 10 })
	if run.State != api.DoctorRunning || run.Node != "a" || run.Found != 150 || run.Open != 10 || len(run.Findings) != examinationShown || !run.Findings[10].Repaired {
		t.Errorf("got %+v", run)
	}
	for name, e := range nodes {
		if _, err := e.Begin(t.Context(), false); chat.CodeOf(err) != chat.CodeConflict {
			t.Errorf("a second one on %s: got %v", name, err)
		}
	}
	if err := nodes["b"].Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually("b", "it is stopped", func() bool { return run.State == api.DoctorStopped && run.EndedAt != nil })

	begin(false)
	end <- nil
	eventually("a", "it is done", func() bool { return run.State == api.DoctorDone && run.Open == 150 })
	begin(false)
	end <- fails
	eventually("a", "it has failed", func() bool { return run.State == api.DoctorFailed && run.Error != nil })
	begin(false)
	cancels["a"]()
	eventually("b", "its node stops", func() bool { return run.State == api.DoctorStopped })
}
