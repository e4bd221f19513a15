package client

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// Report is what a member says of a message.
type Report struct {
	ID      string    `json:"id"`
	Group   string    `json:"group"`
	Target  int64     `json:"target"` // the message
	From    string    `json:"from"`   // who wrote it
	By      string    `json:"by"`     // who reports it
	Reason  string    `json:"reason"`
	Note    string    `json:"note"`
	At      time.Time `json:"at"`
	Message *Message  `json:"message"` // as it read then; only in the lists
}

// ReportDraft is what is wrong with a message.
type ReportDraft struct {
	Reason string `json:"reason"`         // at most 200 characters
	Note   string `json:"note,omitempty"` // at most 1,000 characters
}

// What is decided about a report.
const (
	ReportDismiss = "dismiss"
	ReportDelete  = "delete" // the message
	ReportMute    = "mute"   // its author
	ReportBan     = "ban"    // its author
)

// Report reports a message of somebody else, to those who manage the group, and operators. Repeating it returns the first report.
func (c *Client) Report(ctx context.Context, group string, id int64, draft ReportDraft) (Report, error) {
	return answerTo[Report](ctx, c, call{method: http.MethodPost, path: []string{"groups", group, "messages", strconv.FormatInt(id, 10), "reports"},
		body: draft, again: true})
}

// GroupReports lists the open reports of a group, the newest first, a page at a time. For the owner, admins and operators; none about
// messages of the caller.
func (c *Client) GroupReports(ctx context.Context, group string, page Page) (reports []Report, next string, err error) {
	return c.reports(ctx, []string{"groups", group, "reports"}, page)
}

// Reports lists the open reports of all groups, the newest first, a page at a time. For operators.
func (c *Client) Reports(ctx context.Context, page Page) (reports []Report, next string, err error) {
	return c.reports(ctx, []string{"reports"}, page)
}

func (c *Client) reports(ctx context.Context, path []string, page Page) ([]Report, string, error) {
	var answer struct {
		Reports []Report `json:"reports"`
		Next    string   `json:"next"`
	}
	err := c.do(ctx, call{method: http.MethodGet, path: path, query: page.query(), again: true}, &answer)
	return answer.Reports, answer.Next, err
}

// DecideReport closes a report by one of the Report actions; until is when a mute or a ban ends, nil: never. CodeNotFound: it is
// closed already.
func (c *Client) DecideReport(ctx context.Context, report, action string, until *time.Time) error {
	body := struct {
		Action string     `json:"action"`
		Until  *time.Time `json:"until,omitempty"`
	}{action, until}
	return c.do(ctx, call{method: http.MethodPost, path: []string{"reports", report}, body: body}, nil)
}
