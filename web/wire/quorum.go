package wire

import (
	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/quorum"
)

// Quorum is who has to read a message until when.
type Quorum struct {
	Need     QuorumNeed       `json:"need"`
	Until    string           `json:"until"`
	Remind   []QuorumReminder `json:"remind,omitempty"`
	Escalate []string         `json:"escalate,omitempty"`
}

// QuorumNeed has exactly one of its fields.
type QuorumNeed struct {
	Percent *int64    `json:"percent,omitempty"`
	Count   *int64    `json:"count,omitempty"`
	Users   *[]string `json:"users,omitempty"`
}

// QuorumReminder goes out so long after it was asked for.
type QuorumReminder struct {
	AfterS int64  `json:"after_s"`
	Via    string `json:"via,omitempty"` // empty: inbox
}

// Draft is what is asked.
func (q *Quorum) Draft() (d quorum.Draft, err error) {
	until, ok := chat.ParseTime(q.Until)
	if !ok {
		return d, chat.Invalid("until: want a time as in RFC 3339")
	}
	d = quorum.Draft{Until: until, Escalate: q.Escalate}
	for field, n := range map[string]*int64{"need.percent": q.Need.Percent, "need.count": q.Need.Count} {
		if n != nil && *n < 1 {
			return d, chat.Errorf(chat.CodeOutOfRange, "%s: must be at least 1", field)
		}
	}
	if q.Need.Percent != nil {
		d.Need.Percent = *q.Need.Percent
	}
	if q.Need.Count != nil {
		d.Need.Count = *q.Need.Count
	}
	if q.Need.Users != nil {
		d.Need.Users = append([]string{}, *q.Need.Users...)
	}
	for _, r := range q.Remind {
		if r.Via == "" {
			r.Via = "inbox"
		}
		d.Remind = append(d.Remind, quorum.Reminder{AfterS: r.AfterS, Via: r.Via})
	}
	return d, nil
}

// Asked is the quorum that a send asks for; nil: none.
func (d *MessageDraft) Asked() (*quorum.Draft, error) {
	if d.Quorum == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	if d.DeliverAt != nil {
		return nil, chat.Invalid("quorum: not with deliver_at")
	}
	asked, err := d.Quorum.Draft()
	return &asked, err
}
