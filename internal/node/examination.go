package node

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/health"
	"github.com/chatd/chatd/store/doctor"
	"github.com/chatd/chatd/web/api"
)

// Notes about the examination, by which each node can tell of the one that another makes.
const (
	examinationNote = "doctor"
	examinationStop = "doctor stop " // and its id: it is to end
)

// Bounds of an examination.
const (
	examinationEvery = 2 * time.Second  // between two notes
	examinationLost  = 15 * time.Second // without one, its node is gone
	examinationKept  = 24 * time.Hour   // its result
	examinationShown = 100              // findings of the result; the rest are counted
	notesAll         = 10_000           // notes, to which its own are still added
)

var (
	errExamined    = chat.Errorf(chat.CodeConflict, "an examination is under way: wait for it, or stop it with DELETE /v1/doctor/run")
	errNotExamined = chat.Errorf(chat.CodeNotFound, "there was no examination in the last day, or its node has stopped")
)

// examination is the doctor beside a running node: one at a time, for as long as the store takes.
type examination struct {
	store   health.Store
	node    string
	examine func(ctx context.Context, o doctor.Options) (doctor.Report, error)
	log     *slog.Logger

	asked chan api.DoctorRun
}

func newExamination(store health.Store, node string, log *slog.Logger, examine func(context.Context, doctor.Options) (doctor.Report, error)) *examination {
	return &examination{store: store, node: node, examine: examine, log: log, asked: make(chan api.DoctorRun)}
}

// latest reads the examination that runs, or the last one; ErrNotFound.
func (e *examination) latest(ctx context.Context) (run api.DoctorRun, stopped bool, err error) {
	notes, _, err := e.store.Notes(ctx)
	if err != nil {
		return run, false, chat.AsError(err)
	}
	err = errNotExamined
	for _, n := range notes {
		if n.ID == examinationNote {
			if err = json.Unmarshal([]byte(n.Text), &run); err != nil {
				return run, false, fmt.Errorf("the note about the examination: %w", err)
			}
		}
	}
	for _, n := range notes {
		stopped = stopped || run.Id != "" && n.ID == examinationStop+run.Id
	}
	return run, stopped, err
}

// Latest returns it.
func (e *examination) Latest(ctx context.Context) (api.DoctorRun, error) {
	run, _, err := e.latest(ctx)
	return run, err
}

// Begin begins an examination on this node.
func (e *examination) Begin(ctx context.Context, repair bool) (api.DoctorRun, error) {
	switch run, _, err := e.latest(ctx); {
	case err == nil && run.State == api.DoctorRunning:
		return run, errExamined
	case err != nil && chat.CodeOf(err) != chat.CodeNotFound:
		return run, err
	}
	run := api.DoctorRun{Id: chat.NewID(""), Node: e.node, Repair: repair, State: api.DoctorRunning, StartedAt: chat.TimeMs(time.Now().UnixMilli()), Findings: []api.Finding{}}
	if err := e.note(ctx, run, examinationLost); err != nil {
		return run, chat.AsError(err)
	}
	select {
	case e.asked <- run:
		return run, nil
	case <-ctx.Done():
	case <-time.After(examinationEvery): // one that began at this moment, or the node stops
	}
	if err := e.store.DropNote(context.WithoutCancel(ctx), examinationNote); err != nil {
		e.log.DebugContext(ctx, "the note about the examination was not removed; it ends by itself", "error", err)
	}
	return run, cmp.Or[error](ctx.Err(), errExamined)
}

// Stop ends the examination that runs, on whatever node. What it repaired stays so.
func (e *examination) Stop(ctx context.Context) error {
	run, _, err := e.latest(ctx)
	if err != nil {
		return err
	}
	if run.State == api.DoctorRunning {
		_, err = e.store.PutNote(ctx, examinationStop+run.Id, "stop", examinationLost, notesAll)
	}
	return chat.AsError(err)
}

func (e *examination) note(ctx context.Context, run api.DoctorRun, lasts time.Duration) error {
	_, err := e.store.PutNote(ctx, examinationNote, string(chat.Encode(run)), lasts, notesAll)
	return err
}

// run makes the examinations that are asked for until ctx ends.
func (e *examination) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case run := <-e.asked:
			e.one(ctx, run)
		}
	}
}

// one makes an examination, and notes how far it is.
func (e *examination) one(ctx context.Context, run api.DoctorRun) {
	var mu sync.Mutex // over run
	looking, stop := context.WithCancel(ctx)
	defer stop()
	var noting sync.WaitGroup
	noting.Go(func() {
		ticker := time.NewTicker(examinationEvery)
		defer ticker.Stop()
		for {
			select {
			case <-looking.Done():
				return
			case <-ticker.C:
			}
			now, stopped, err := e.latest(looking)
			if stopped || err == nil && now.Id != run.Id {
				stop()
				return
			}
			mu.Lock()
			text := run
			mu.Unlock()
			if err := e.note(looking, text, examinationLost); err != nil && looking.Err() == nil {
				e.log.DebugContext(ctx, "how far the examination is could not be noted", "error", err)
			}
		}
	})
	report, err := e.examine(looking, doctor.Options{
		Repair: run.Repair,
		Progress: func(done, total int64) {
			mu.Lock()
			defer mu.Unlock()
			run.Keys, run.KeysTotal = done, total
		},
		Found: func(f doctor.Finding) {
			mu.Lock()
			defer mu.Unlock()
			run.Found++
			if !f.Repaired {
				run.Open++
			}
			if len(run.Findings) < examinationShown {
				run.Findings = append(run.Findings, describeFinding(f))
			}
		},
	})
	stop()
	noting.Wait()
	ended := chat.TimeMs(time.Now().UnixMilli())
	run.EndedAt = &ended
	switch {
	case err != nil:
		run.State, run.Error = api.DoctorFailed, new("the store could not be examined; the log of the node says why")
		e.log.WarnContext(ctx, "the store could not be examined", "error", err)
	case report.Complete:
		run.State = api.DoctorDone
	default:
		run.State = api.DoctorStopped
	}
	final, cancel := context.WithTimeout(context.WithoutCancel(ctx), examinationEvery)
	defer cancel()
	if err := e.note(final, run, examinationKept); err != nil {
		e.log.WarnContext(ctx, "the result of the examination could not be noted", "error", err)
	}
	e.log.InfoContext(ctx, "the store was examined", "state", run.State, "repair", run.Repair, "findings", run.Found, "open", run.Open)
}

func describeFinding(f doctor.Finding) api.Finding {
	return api.Finding{Kind: string(f.Kind), Key: f.Key, Message: f.Message, Repair: f.Repair, Repaired: f.Repaired}
}
