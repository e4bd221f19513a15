// Package health tells operators what is wrong with a running chatd, worst first, and how each of its nodes does.
//
// What is wrong is found when somebody asks: each check looks at one part, all of them side by side, and one that cannot tell is a
// problem itself. Nodes report themselves to the store every few seconds, so that one of them answers for all.
package health

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
)

const problemNote = "p " // begins the ids of the notes of problems

// Severity is how bad a problem is.
type Severity string

// Critical: users notice, or lose something soon. Warning: somebody should look.
const (
	Critical Severity = "critical"
	Warning  Severity = "warning"
)

// Problem is one thing that is wrong.
type Problem struct {
	Code     Code       `json:"code"`
	Severity Severity   `json:"severity"`
	Subject  string     `json:"subject"` // what has it: a node, a queue, a webhook, a schedule, a group; empty: the whole
	Since    *chat.Time `json:"since"`   // where nobody recorded when it began, since when this node knows
	Detail   string     `json:"detail"`  // what it is, and the cause
	Fix      string     `json:"fix"`     // what to do
}

// Bounds of looking.
const (
	checkTimeout = 2 * time.Second // for one check: whoever asks waits no longer, whatever hangs
	knownFor     = 5 * time.Minute // a problem that nobody saw for so long begins anew
	knownMax     = 2000
	rememberFor  = 24 * time.Hour
)

// Check looks at one part of chatd for a caller who may know of it. Its error says why it could not.
type Check struct {
	Name string // of the part
	Look func(ctx context.Context, by chat.Caller) ([]Problem, error)
}

// Options say how a Service works.
type Options struct {
	Node    string // the id of this node
	Version string
	Checks  []Check
	Sample  func() Totals // what this node has done so far
	// Holds tells whether a problem that was remembered is still there.
	Holds func(ctx context.Context, p Problem) (bool, error)
	Now   func() time.Time
	Log   *slog.Logger
}

// Service finds problems, and reports this node.
type Service struct {
	store   Store
	opt     Options
	checks  []Check
	started time.Time

	mu    sync.Mutex
	known map[string]*sighting // by code and subject
}

// sighting is when this node first and last saw a problem.
type sighting struct{ first, last time.Time }

// New makes a Service.
func New(store Store, o Options) *Service {
	s := &Service{store: store, opt: o, started: o.Now(), known: map[string]*sighting{}}
	s.checks = append(o.Checks, Check{"nodes", s.goneNodes}, Check{"what failed", s.remembered})
	return s
}

// Problems finds what is wrong, worst first: critical before warnings, the whole before a part, the older before the newer. It answers whatever is away.
func (s *Service) Problems(ctx context.Context, by chat.Caller) ([]Problem, error) {
	if err := chat.CheckOperator(by); err != nil {
		return nil, err
	}
	found, errs := make([][]Problem, len(s.checks)), make([]error, len(s.checks))
	var looking sync.WaitGroup
	for i, c := range s.checks {
		looking.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, checkTimeout)
			defer cancel()
			found[i], errs[i] = c.Look(ctx, by)
		})
	}
	looking.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all := slices.Concat(found...)
	away := slices.ContainsFunc(all, func(p Problem) bool { return p.Code == StoreAway })
	for i, err := range errs {
		// What a store that is away does not answer is said once, by its own check.
		if err != nil && (!away || chat.CodeOf(err) != chat.CodeUnavailable) {
			all = append(all, s.unknown(ctx, s.checks[i].Name, err))
		}
	}
	s.date(all)
	slices.SortStableFunc(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), part(a)-part(b), a.Since.Time.Compare(b.Since.Time), cmp.Compare(a.Code, b.Code), strings.Compare(a.Subject, b.Subject))
	})
	return all, nil
}

// part is 0 if the whole has the problem, else 1.
func part(p Problem) int { return min(len(p.Subject), 1) }

// unknown is the problem that a part could not be looked at.
func (s *Service) unknown(ctx context.Context, name string, err error) Problem {
	s.opt.Log.WarnContext(ctx, "what is wrong could not be looked up", "part", name, "error", err)
	return Problem{Code: Unknown, Severity: Warning, Subject: name, Detail: "this part could not be looked at; the log of the node says why",
		Fix: "read the log"}
}

// kept is a problem that was remembered.
type kept struct {
	Problem
	Mark string `json:"mark,omitempty"`
}

// Remember keeps a problem that shows only at the moment at which something fails, for a day, or until it no longer holds. It is there since
// it was first remembered with this mark, which says of its subject when that last worked.
func (s *Service) Remember(ctx context.Context, p Problem, mark string) error {
	id, since := problemNote+string(p.Code)+" "+p.Subject, chat.TimeMs(s.opt.Now().UnixMilli())
	p.Since = &since
	notes, _, err := s.store.Notes(ctx)
	if err != nil {
		return err
	}
	for _, n := range notes {
		var was kept
		if n.ID == id && json.Unmarshal([]byte(n.Text), &was) == nil && was.Mark == mark && was.Since != nil {
			p.Since = was.Since
		}
	}
	_, err = s.store.PutNote(ctx, id, string(chat.Encode(kept{p, mark})), rememberFor, notesMax)
	return err
}

// Remembered are the problems of a kind that were remembered, though some may hold no longer.
func (s *Service) Remembered(ctx context.Context, code Code) (found []Problem, err error) {
	notes, _, err := s.store.Notes(ctx)
	for _, n := range notes {
		p, is, err := problemOf(n)
		if err != nil {
			return nil, err
		}
		if is && p.Code == code && p.Since != nil {
			found = append(found, p)
		}
	}
	return found, err
}

// problemOf reads the note of a problem; is tells whether it is one.
func problemOf(n Note) (p Problem, is bool, err error) {
	if !strings.HasPrefix(n.ID, problemNote) {
		return p, false, nil
	}
	if err := json.Unmarshal([]byte(n.Text), &p); err != nil {
		return p, false, fmt.Errorf("health: the note %q: %w", n.ID, err)
	}
	return p, true, nil
}

// remembered finds the problems that were remembered and still hold.
func (s *Service) remembered(ctx context.Context, _ chat.Caller) (found []Problem, err error) {
	notes, _, err := s.store.Notes(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range notes {
		p, is, err := problemOf(n)
		if err != nil {
			return nil, err
		}
		if !is {
			continue
		}
		holds, err := s.opt.Holds(ctx, p)
		switch {
		case err != nil:
			return nil, err
		case holds:
			found = append(found, p)
		default:
			if err := s.store.DropNote(ctx, n.ID); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// date sets since when problems are there, where nobody else knows.
func (s *Service) date(all []Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.opt.Now()
	for key, k := range s.known {
		if now.Sub(k.last) > knownFor {
			delete(s.known, key)
		}
	}
	for i := range all {
		key := string(all[i].Code) + " " + all[i].Subject
		k := s.known[key]
		if k == nil {
			if k = (&sighting{first: now}); len(s.known) < knownMax {
				s.known[key] = k
			}
		}
		k.last = now
		if all[i].Since == nil {
			since := chat.TimeMs(k.first.UnixMilli())
			all[i].Since = &since
		}
	}
}
