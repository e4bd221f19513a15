package hook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/webhook"
)

// reasonMax is how many characters of a reason its sender gets to see.
const reasonMax = 500

// statusNoContent is the status of an answer that says nothing, which allows. The domain does not import net/http.
const statusNoContent = 204

// What a question came to, in metrics.
const (
	outcomeAllow   = "allow"
	outcomeRewrite = "rewrite"
	outcomeRefuse  = "refuse"
	outcomeReview  = "review"
	outcomeTimeout = "timeout" // no answer in time
	outcomeInvalid = "invalid" // an answer that is none
	outcomeFailed  = "failed"  // no answer
	outcomeFull    = "full"    // InFlight questions are under way
	outcomeAway    = "away"    // it failed too often
)

// Outcomes are all that a question can come to.
var Outcomes = []string{outcomeAllow, outcomeRewrite, outcomeRefuse, outcomeReview, outcomeTimeout, outcomeInvalid, outcomeFailed, outcomeFull, outcomeAway}

// question is what a hook gets.
type question struct {
	Type      string       `json:"type"`
	Timestamp chat.Time    `json:"timestamp"`
	Data      questionData `json:"data"`
}

type questionData struct {
	Group     string       `json:"group,omitempty"`
	To        string       `json:"to,omitempty"`
	From      string       `json:"from"`
	Via       string       `json:"via,omitempty"`
	DeliverAt *chat.Time   `json:"deliver_at,omitempty"`
	Message   chat.Content `json:"message"`
}

// verdict is what a hook answers.
type verdict struct {
	Action   string          `json:"action"`
	Reason   string          `json:"reason"`
	Body     *string         `json:"body"`
	Data     json.RawMessage `json:"data"`
	Mentions []string        `json:"mentions"`
}

// Asks tells whether any hook is about messages to a group; empty: about direct messages.
func (s *Service) Asks(group string) bool {
	for _, h := range *s.asked.Load() {
		if h.about(group) {
			return true
		}
	}
	return false
}

// Ask asks the hooks that are about a message, one after the other. Where one wants a moderator to see it, those behind it are asked all
// the same: they may refuse.
func (s *Service) Ask(ctx context.Context, q chat.Question) (chat.Content, error) {
	ends := time.Now().Add(chat.AskMax) // those that are left then give no answer in time
	sent := chat.Encode(q.Content)      // what the ids of questions are made of, however hooks rewrite it
	var review error
	for _, h := range *s.asked.Load() {
		if !h.about(q.Group) {
			continue
		}
		began := time.Now()
		content, outcome, err := s.askOne(ctx, h, q, sent, ends)
		if outcome != "" {
			s.opt.Observe(outcome, time.Since(began))
		}
		if _, ok := chat.IsInReview(err); ok {
			review, err = cmp.Or(review, err), nil
		}
		if err != nil {
			return q.Content, err
		}
		q.Content = content
	}
	return q.Content, review
}

// askOne asks one hook, and returns the message as that leaves it. outcome is empty where the caller has gone.
func (s *Service) askOne(ctx context.Context, h *asked, q chat.Question, sent []byte, ends time.Time) (c chat.Content, outcome string, err error) {
	now := time.Now()
	if outcome = h.line.enter(h.InFlight, now); outcome == "" {
		within, cancel := context.WithDeadline(ctx, earlier(now.Add(time.Duration(h.TimeoutMs)*time.Millisecond), ends))
		var v verdict
		v, outcome = s.call(within, h, q, sent)
		cancel()
		if ctx.Err() != nil {
			h.line.leave(nil, time.Now())
			return q.Content, "", context.Cause(ctx)
		}
		if outcome == outcomeRewrite {
			if c, err = v.rewritten(q, s.opt.Limits); err != nil {
				outcome = outcomeInvalid
			}
		}
		switch outcome {
		case outcomeAllow:
			c = q.Content
		case outcomeRefuse:
			err = chat.Refusal(reasonOf(v.Reason))
		case outcomeReview:
			c, err = q.Content, &chat.InReview{Reason: reasonOf(v.Reason)}
		}
		answered := slices.Contains(answers, outcome)
		h.line.leave(&answered, time.Now())
		if answered {
			return c, outcome, err
		}
	}
	switch h.OnError {
	case Review:
		return q.Content, outcome, &chat.InReview{Reason: "the hook gave no answer: " + outcome}
	case Refuse:
		return q.Content, outcome, &chat.Error{Code: chat.CodeRefused, Message: "the message could not be checked, and is not sent unchecked; try again"}
	}
	return q.Content, outcome, nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// answers are the outcomes of a question that was answered.
var answers = []string{outcomeAllow, outcomeRewrite, outcomeRefuse, outcomeReview}

// call asks a hook. The outcome is one of answers, as v says, or why there is no v.
func (s *Service) call(ctx context.Context, h *asked, q chat.Question, sent []byte) (v verdict, outcome string) {
	if s.opt.Caller == nil {
		return v, outcomeFailed
	}
	id := ""
	if q.Key != "" {
		id = chat.Hash([]byte("ask"), []byte(h.ID), []byte(q.Group), []byte(q.To), []byte(q.By.User), []byte(q.Key), sent)
	}
	body := chat.Encode(question{Type: BeforeSend, Timestamp: chat.TimeMs(s.opt.Now().UnixMilli()),
		Data: questionData{Group: q.Group, To: q.To, From: q.By.User, Via: q.By.Via, DeliverAt: q.DeliverAt, Message: q.Content}})
	status, answer, err := s.opt.Caller.Ask(ctx, webhook.Call{Owner: h.Owner, URL: h.URL, ID: chat.NewID(id), Body: body, Secrets: []string{h.Secret}})
	switch {
	case errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil:
		return v, outcomeTimeout
	case err != nil:
		return v, outcomeFailed
	case status == statusNoContent:
		return v, outcomeAllow
	case status/100 != 2:
		return v, outcomeFailed
	case json.Unmarshal(bytes.TrimSpace(answer), &v) != nil:
		return v, outcomeInvalid
	}
	if slices.Contains(answers, v.Action) {
		return v, v.Action
	}
	return v, outcomeInvalid
}

var errRewrite = errors.New("the message has no such field")

// rewritten is the content of a question with what the verdict gives in its place, checked as that of a sender is.
func (v verdict) rewritten(q chat.Question, limits chat.Limits) (chat.Content, error) {
	c := q.Content
	if v.Body != nil {
		if c.Body == nil {
			return c, errRewrite
		}
		c.Body = v.Body
	}
	if len(v.Data) > 0 && string(v.Data) != "null" {
		c.Data = v.Data
	}
	if v.Mentions != nil {
		if q.To != "" || c.Kind == chat.Edit {
			return c, errRewrite
		}
		c.Mentions = v.Mentions
	}
	return c.Checked(limits)
}

// reasonOf is a reason as its sender sees it: one line, and not a long one.
func reasonOf(text string) string {
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "")))
	if utf8.RuneCountInString(text) > reasonMax {
		text = string([]rune(text)[:reasonMax])
	}
	return text
}
