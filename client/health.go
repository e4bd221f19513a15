package client

import (
	"context"
	"net/http"
	"time"
)

// OpsProblem is something that is wrong with a running chatd.
type OpsProblem struct {
	Code     string    `json:"code"`     // such as store_away, queue_paused, webhook_failing; more may come
	Severity string    `json:"severity"` // critical: users notice, or something is about to be lost; warning
	Subject  string    `json:"subject"`  // the node, queue, webhook, schedule, group or disk that has it; empty: the whole
	Since    time.Time `json:"since"`
	Detail   string    `json:"detail"`
	Fix      string    `json:"fix"`
}

// Problems lists what is wrong, worst first. For operators, like Stats.
func (c *Client) Problems(ctx context.Context) ([]OpsProblem, error) {
	var answer struct {
		Problems []OpsProblem `json:"problems"`
	}
	err := c.do(ctx, call{method: http.MethodGet, path: []string{"problems"}, again: true}, &answer)
	return answer.Problems, err
}

// ServerStats are the nodes of a server, each with its last 15 minutes.
type ServerStats struct {
	Nodes []NodeStats `json:"nodes"`
	StepS int64       `json:"step_s"` // seconds that each value is over
}

// NodeStats is how one node does.
type NodeStats struct {
	ID      string               `json:"id"`
	Version string               `json:"version"`
	Since   time.Time            `json:"since"`
	SeenAt  time.Time            `json:"seen_at"` // its last heartbeat
	Series  map[string][]float64 `json:"series"`  // by figure, the newest value last: sessions, messages_per_s and so on
}

// Stats shows how the nodes do.
func (c *Client) Stats(ctx context.Context) (ServerStats, error) {
	return answerTo[ServerStats](ctx, c, call{method: http.MethodGet, path: []string{"stats"}, again: true})
}
