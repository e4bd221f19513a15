package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// The values of [Error.Code]. They are stable.
const (
	CodeInvalid         = "invalid_request"
	CodeOutOfRange      = "out_of_range"
	CodeUnauthenticated = "unauthenticated"
	CodeForbidden       = "forbidden"
	CodeMuted           = "muted"
	CodeBanned          = "banned"
	CodeBlocked         = "blocked" // the other user blocks the caller
	CodeNotFound        = "not_found"
	CodeExists          = "exists"
	CodeKeyReused       = "key_reused"
	CodeConflict        = "conflict"
	CodeTooLarge        = "too_large"
	CodeRefused         = "refused"
	CodeRateLimited     = "rate_limited"
	CodeInboxFull       = "inbox_full"
	CodeGone            = "gone"
	CodeQuotaFull       = "quota_full"
	CodeBacklogFull     = "backlog_full"
	CodeInternal        = "internal"
	CodeUnavailable     = "unavailable"
	CodeInReview        = "review" // no error of the server: what was sent waits for a moderator, see Client.Reviews
)

// Error is an error that the server returned. Over the websocket, Status is 0 if the server sends only a code.
type Error struct {
	Status     int           // HTTP status, or the close code of a websocket (4400 and above)
	Code       string        // one of the Code constants; empty if something other than chatd answered
	Detail     string        // for people
	RetryAfter time.Duration // how long the server asks to wait; 0 if it does not say
	Reason     string        // with CodeRefused: why, if that was said
	Review     string        // with CodeInReview: the id
	Until      time.Time     // with CodeMuted and CodeBanned: when it ends; zero: never
	Length     *int64        // with CodeConflict of a piece of a stream: how many bytes stand
	Blockers   []Blocker     // with CodeBacklogFull: the members that a send has to wait for, the slowest first
}

func (e *Error) Error() string {
	switch {
	case e.Code == "":
		return fmt.Sprintf("chatd: status %d: %s", e.Status, e.Detail)
	case e.Detail == "":
		return "chatd: " + e.Code
	}
	return fmt.Sprintf("chatd: %s: %s", e.Code, e.Detail)
}

// CodeOf returns the code of the [Error] that err wraps, or "" if there is none.
func CodeOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// answerError makes an Error from an unsuccessful answer.
func answerError(status int, header http.Header, body []byte, now time.Time) *Error {
	e := &Error{Status: status, RetryAfter: retryAfter(header.Get("Retry-After"), now)}
	var problem struct {
		Code     string    `json:"code"`
		Title    string    `json:"title"`
		Detail   string    `json:"detail"`
		Blockers []Blocker `json:"blockers"`
		Until    time.Time `json:"until"`
		Reason   string    `json:"reason"`
		Length   *int64    `json:"length"`
	}
	if json.Unmarshal(body, &problem) == nil {
		e.Code, e.Detail, e.Blockers, e.Until, e.Reason, e.Length = problem.Code, problem.Detail, problem.Blockers, problem.Until, problem.Reason, problem.Length
		if e.Detail == "" {
			e.Detail = problem.Title
		}
	}
	if e.Detail == "" && e.Code == "" {
		e.Detail = http.StatusText(status)
	}
	return e
}

// retryAfter parses the header of RFC 9110 section 10.2.3: seconds, or a date. 0 if it is not usable.
func retryAfter(value string, now time.Time) time.Duration {
	if s, err := strconv.ParseInt(value, 10, 32); err == nil {
		return max(0, time.Duration(s)*time.Second)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
