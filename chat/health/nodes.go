package health

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
)

// Step is the time between two values of a series.
const Step = 15 * time.Second

// Bounds of the reports of nodes.
const (
	seriesMax = 60              // values of a series: 15 minutes
	beatEvery = 3 * time.Second // between two heartbeats
	goneAfter = 8 * time.Second // without one, a node counts as gone
	goneFor   = time.Hour       // for which a node that is gone is reported
	nodesMax  = 10_000          // notes, to which nodes still add theirs
	notesMax  = 1000            // notes, to which problems are added
	leaveMax  = 2 * time.Second // for a node that stops to say so
)

const nodeNote = "n " // begins the ids of the notes of nodes

// Figures names what a series is of.
var Figures = []string{
	"sessions",       // live websockets
	"messages_per_s", // taken over HTTP and websockets
	"requests_per_s", // answered
	"failures_per_s", // of these, with a status from 500 on
	"request_ms",     // 95 of 100 took at most so long, but for those that may wait
	"store_ms",       // that the store took for the last report
}

// Stats are the nodes that run, and their series.
type Stats struct {
	Nodes []Node `json:"nodes"`
	StepS int64  `json:"step_s"`
}

// Node is one that runs, or did within the last hour and has not said that it stops.
type Node struct {
	ID      string               `json:"id"`
	Version string               `json:"version"`
	Since   chat.Time            `json:"since"`
	SeenAt  chat.Time            `json:"seen_at"` // its last heartbeat
	Series  map[string][]float64 `json:"series"`  // of each of Figures, the newest value last, each over StepS seconds
}

// report is what a node writes of itself.
type report struct {
	Version string `json:"version"`
	SinceMs int64  `json:"since_ms"`
	Series  series `json:"series"`
}

// Stats tells how each node does.
func (s *Service) Stats(ctx context.Context, by chat.Caller) (Stats, error) {
	if err := chat.CheckOperator(by); err != nil {
		return Stats{}, err
	}
	nodes, _, err := s.nodes(ctx)
	return Stats{Nodes: nodes, StepS: int64(Step / time.Second)}, err
}

func (s *Service) nodes(ctx context.Context) (nodes []Node, nowMs int64, err error) {
	notes, nowMs, err := s.store.Notes(ctx)
	if err != nil {
		return nil, 0, err
	}
	for _, n := range notes {
		id, ok := strings.CutPrefix(n.ID, nodeNote)
		if !ok {
			continue
		}
		var r report
		if err := json.Unmarshal([]byte(n.Text), &r); err != nil {
			return nil, 0, fmt.Errorf("health: the report of node %s: %w", id, err)
		}
		nodes = append(nodes, Node{ID: id, Version: r.Version, Since: chat.TimeMs(r.SinceMs), SeenAt: chat.TimeMs(n.EndsMs - goneFor.Milliseconds()), Series: r.Series})
	}
	return nodes, nowMs, nil
}

// goneNodes finds nodes that neither report nor have said that they stop.
func (s *Service) goneNodes(ctx context.Context, _ chat.Caller) (found []Problem, err error) {
	nodes, nowMs, err := s.nodes(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		if age := time.Duration(nowMs-n.SeenAt.UnixMilli()) * time.Millisecond; age > goneAfter {
			found = append(found, Problem{Code: NodeGone, Severity: Warning, Subject: n.ID, Since: &n.SeenAt,
				Detail: fmt.Sprintf("the node (%s) stopped reporting and did not say that it stops: it crashed, hangs, or cannot reach the store", n.Version),
				Fix:    "look at its log and start it again; the others have taken over its tasks, and this is forgotten after an hour"})
		}
	}
	return found, nil
}

// Run reports this node until ctx ends, and takes the report back then.
func (s *Service) Run(ctx context.Context) error {
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	values := series{}
	last, next := s.opt.Sample(), s.opt.Now().Add(Step)
	text := s.report(values)
	for {
		begin := time.Now()
		kept, err := s.store.PutNote(ctx, nodeNote+s.opt.Node, text, goneFor, nodesMax)
		took := time.Since(begin)
		if err != nil && ctx.Err() == nil {
			s.opt.Log.DebugContext(ctx, "the node could not report itself", "error", err)
		}
		select {
		case <-ctx.Done():
			final, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveMax)
			defer cancel()
			return s.store.DropNote(final, nodeNote+s.opt.Node)
		case <-ticker.C:
		}
		if kept {
			text = ""
		} else {
			text = s.report(values) // it was lost, or never arrived
		}
		if now := s.opt.Now(); !now.Before(next) {
			totals := s.opt.Sample()
			values = values.with(totals.since(last, now.Sub(next)+Step, took))
			last, next = totals, now.Add(Step)
			text = s.report(values)
		}
	}
}

// report is the text of the note of this node.
func (s *Service) report(values series) string {
	return string(chat.Encode(report{Version: s.opt.Version, SinceMs: s.started.UnixMilli(), Series: values}))
}

// series are the last values of each of Figures, by its name.
type series map[string][]float64

// with returns the series with one value more of each.
func (s series) with(values []float64) series {
	next := make(series, len(Figures))
	for i, name := range Figures {
		all := append(slices.Clone(s[name]), round(values[i]))
		next[name] = all[max(0, len(all)-seriesMax):]
	}
	return next
}

// round keeps three digits, so that a report is small.
func round(v float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return short
}
