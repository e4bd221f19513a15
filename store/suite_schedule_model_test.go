package store_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/schedule"
	"github.com/chatd/chatd/store"
)

// runScheduleModel compares a store with a model of a few schedules of one owner, who joins and leaves their group, after
// every one of many random steps: what each record says, which tasks wait, and how many messages there are. Steps come in
// any order, with outdated versions, and twice.
func runScheduleModel(t *testing.T, open factory) {
	rapid.Check(t, func(r *rapid.T) {
		m := &scheduleModel{T: r, store: open(t, chat.DefaultLimits()), in: true}
		defer func() { _ = m.store.Close() }()
		g := newGroup("g", []string{"bob"}, public, keep(100_000))
		m.ok(m.store.CreateGroup(r.Context(), g))
		m.epoch, m.last = g.Epoch, 2 // notices of creating and joining
		r.Repeat(map[string]func(*rapid.T){
			"":       m.check,
			"create": m.create,
			"change": m.change,
			"cancel": m.cancel,
			"fire":   m.fire,
			"run":    m.run,
			"forget": m.forget,
			"member": m.member,
		})
		for _, s := range m.schedules {
			m.checkRecord(r, s)
		}
		m.checkList(r)
	})
}

// modelSchedule is what counts about a schedule.
type modelSchedule struct {
	schedule.Record
	content string
	ran     []string
}

type scheduleModel struct {
	*rapid.T
	store     *store.Store
	epoch     string
	last      int64            // of the log
	in        bool             // the owner is a member
	schedules []*modelSchedule // in the order of their making
	touched   *modelSchedule   // by the newest step, or nil
}

func (m *scheduleModel) ok(err error) {
	m.Helper()
	if err != nil {
		m.Fatalf("got error %v", err)
	}
}

// becomes checks an error, and tells whether the step was done.
func (m *scheduleModel) becomes(err, want error) bool {
	m.Helper()
	if !errors.Is(err, want) || err != nil && want == nil {
		m.Fatalf("got error %v, want %v", err, want)
	}
	return err == nil
}

// some is a schedule that there is, if there is any.
func (m *scheduleModel) some(r *rapid.T) *modelSchedule {
	if len(m.schedules) == 0 {
		r.Skip("there is none")
	}
	m.touched = m.schedules[rapid.IntRange(0, len(m.schedules)-1).Draw(r, "schedule")]
	return m.touched
}

// due is a time that has come, or one that comes when the test is over.
func (m *scheduleModel) due(r *rapid.T) int64 {
	if rapid.Bool().Draw(r, "due") {
		return rapid.Int64Range(1, 1000).Draw(r, "at")
	}
	return time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli() + rapid.Int64Range(0, 1000).Draw(r, "at")
}

func (m *scheduleModel) create(r *rapid.T) {
	key, content := rapid.SampledFrom([]string{"", "a", "b"}).Draw(r, "key"), rapid.SampledFrom([]string{"x", "x", "y"}).Draw(r, "content")
	body := content
	p := schedule.Plan{Owner: "bob", Group: "g", Epoch: m.epoch, Content: chat.Content{Kind: chat.Text, Body: &body}, Misfire: schedule.MisfireSend}
	if rapid.Bool().Draw(r, "recurs") {
		p.Cron = "* * * * *"
	}
	n := schedule.NewSchedule{Plan: p, NextMs: m.due(r), Key: key, Content: content}
	made, duplicate, err := m.store.CreateSchedule(r.Context(), n)
	var before *modelSchedule
	for _, s := range m.schedules {
		if key != "" && s.Plan.ClientID == key {
			before = s
		}
	}
	if before != nil && before.content != content {
		m.becomes(err, chat.ErrKeyReused)
		return
	}
	if m.ok(err); duplicate != (before != nil) {
		m.Fatalf("got duplicate %v of %+v", duplicate, before)
	}
	if before == nil {
		made.Plan.ClientID = key // of the model alone: how it finds it again
		m.schedules = append(m.schedules, &modelSchedule{Record: made, content: content})
	}
}

func (m *scheduleModel) change(r *rapid.T) {
	s := m.some(r)
	with := s.Record
	with.Plan.ClientID = ""
	with.Version = rapid.Int64Range(max(1, s.Version-1), s.Version).Draw(r, "version")
	with.State = rapid.SampledFrom([]schedule.State{schedule.Pending, schedule.Paused}).Draw(r, "state")
	with.NextMs = m.due(r)
	_, err := m.store.ChangeSchedule(r.Context(), with, false)
	if s.State.Ended() || with.Version != s.Version {
		m.becomes(err, chat.ErrConflict)
		return
	}
	m.ok(err)
	s.State, s.NextMs = with.State, with.NextMs
	s.Version++
}

func (m *scheduleModel) cancel(r *rapid.T) {
	s := m.some(r)
	err := m.store.CancelSchedule(r.Context(), s.ID)
	if s.State == schedule.Done || s.State == schedule.Failed {
		m.becomes(err, chat.ErrConflict)
		return
	}
	if m.ok(err); s.State != schedule.Cancelled {
		s.State = schedule.Cancelled
		s.Version++
	}
}

func (m *scheduleModel) firing(s *modelSchedule) schedule.Firing {
	f := firingOf(s.Record)
	f.Recurs = s.Plan.Cron != ""
	return f
}

func (m *scheduleModel) fire(r *rapid.T) {
	s := m.some(r)
	f := m.firing(s)
	f.Version = rapid.Int64Range(max(1, s.Version-1), s.Version).Draw(r, "version")
	f.Missed = rapid.Int64Range(0, 2).Draw(r, "missed")
	if f.Recurs && rapid.IntRange(0, 3).Draw(r, "next") > 0 {
		f.NextMs = m.due(r)
	}
	f.Refused = rapid.SampledFrom([]chat.Code{"", "", "", schedule.CodeMissed, chat.CodeForbidden}).Draw(r, "refused")
	done, err := m.store.Fire(r.Context(), f)
	m.ok(err)
	if want := m.fired(s, f); done.Outcome != want {
		m.Fatalf("got %s, want %s", done.Outcome, want)
	}
	if done.Outcome == schedule.OutcomeSent || done.Outcome == schedule.OutcomeRefused {
		// The task was claimed, and is done.
		client, err := core(m.store)
		m.ok(err)
		_, err = client.Cancel(r.Context(), fmt.Sprintf("%s.%d", s.ID, f.Version))
		m.ok(err)
	}
}

// fired is what becomes of an occurrence.
func (m *scheduleModel) fired(s *modelSchedule, f schedule.Firing) schedule.Outcome {
	code := f.Refused
	if code == "" && !m.in {
		code = chat.CodeForbidden
	}
	switch {
	case s.State != schedule.Pending || f.Version != s.Version:
		return schedule.OutcomeStale
	case s.NextMs > 1000:
		return schedule.OutcomeEarly
	}
	s.Version++
	s.Missed += f.Missed
	s.LastError = string(code)
	if code != schedule.CodeMissed {
		s.Fired++
	}
	goesOn := f.NextMs > 0 && f.Recurs && (code == "" || code == schedule.CodeMissed)
	switch {
	case goesOn:
		s.NextMs = f.NextMs
	case code == "" || f.Recurs && code == schedule.CodeMissed:
		s.State = schedule.Done
	default:
		s.State = schedule.Failed
	}
	if code != "" {
		return schedule.OutcomeRefused
	}
	m.sent(s)
	return schedule.OutcomeSent
}

func (m *scheduleModel) sent(s *modelSchedule) {
	m.last++
	s.Sent++
	s.LastID, s.LastError = m.last, ""
}

func (m *scheduleModel) run(r *rapid.T) {
	s := m.some(r)
	f := m.firing(s)
	f.Run = rapid.SampledFrom([]string{"r1", "r2", "r3"}).Draw(r, "request")
	_, err := m.store.Fire(r.Context(), f)
	switch {
	case slices.Contains(s.ran, f.Run):
		m.ok(err) // it was done before
		return
	case s.State.Ended():
		m.becomes(err, chat.ErrConflict)
		return
	case !m.in:
		m.becomes(err, chat.ErrForbidden)
		return
	}
	m.ok(err)
	m.sent(s)
	if s.ran = append(s.ran, f.Run); !f.Recurs {
		s.State = schedule.Done
		s.Version++
	}
}

func (m *scheduleModel) forget(r *rapid.T) {
	s := m.some(r)
	m.ok(m.store.ForgetSchedule(r.Context(), s.ID))
	if s.State.Ended() {
		m.schedules = slices.DeleteFunc(m.schedules, func(other *modelSchedule) bool { return other == s })
		m.touched = nil
		m.checkList(r)
	}
}

func (m *scheduleModel) member(r *rapid.T) {
	if m.in {
		_, err := m.store.Leave(r.Context(), membership("g", "bob", "bob", ""))
		m.ok(err)
	} else {
		_, _, err := m.store.Join(r.Context(), membership("g", "bob", "bob", chat.Ordinary))
		m.ok(err)
	}
	m.in = !m.in
	m.last++
}

// check compares what the newest step touched, the tasks and the log. The rest is compared at the end.
func (m *scheduleModel) check(r *rapid.T) {
	if m.touched != nil {
		m.checkRecord(r, m.touched)
		m.touched = nil
	}
	due := map[string]int64{}
	for _, s := range m.schedules {
		if s.State == schedule.Pending {
			due[fmt.Sprintf("%s.%d", s.ID, s.Version)] = s.NextMs
			if s.NextMs <= 1000 {
				due[fmt.Sprintf("%s.%d", s.ID, s.Version)] = 0 // ready
			}
		}
	}
	tasks, err := waiting(r.Context(), m.store, schedule.TaskFire)
	m.ok(err)
	if !maps.Equal(tasks, due) {
		m.Fatalf("got tasks %v, want %v", tasks, due)
	}
	ends, err := m.store.Lasts(r.Context(), []string{"g"})
	m.ok(err)
	if ends[0].Last != m.last {
		m.Fatalf("got %d entries, want %d", ends[0].Last, m.last)
	}
}

func (m *scheduleModel) checkRecord(r *rapid.T, s *modelSchedule) {
	got, _, err := m.store.Schedule(r.Context(), s.ID)
	m.ok(err)
	a := []any{got.State, got.Version, got.NextMs, got.Fired, got.Sent, got.Missed, got.LastID, got.LastError}
	b := []any{s.State, s.Version, s.NextMs, s.Fired, s.Sent, s.Missed, s.LastID, s.LastError}
	if !slices.Equal(a, b) {
		m.Fatalf("%s: got state, version, next, fired, sent, missed, last id, last error %v, want %v", s.ID, a, b)
	}
}

func (m *scheduleModel) checkList(r *rapid.T) {
	page, _, err := m.store.SchedulesOf(r.Context(), chat.Caller{User: "bob"}, "", 1000, 1<<20)
	m.ok(err)
	listed, all := []string{}, []string{}
	for _, p := range page {
		listed = append(listed, p.ID)
	}
	for _, s := range m.schedules {
		all = append(all, s.ID)
	}
	// Those of one millisecond stand by their ids.
	slices.Sort(listed)
	if slices.Sort(all); !slices.Equal(listed, all) {
		m.Fatalf("got listed %v, want %v", listed, all)
	}
}
