package chat

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Code is the stable word that names an error for programs. The words, and the HTTP status each stands for,
// are fixed by the wire contract.
type Code string

// Every code that an answer can carry.
const (
	CodeInvalid         Code = "invalid_request" // 400
	CodeOutOfRange      Code = "out_of_range"    // 400
	CodeUnauthenticated Code = "unauthenticated" // 401
	CodeForbidden       Code = "forbidden"       // 403
	CodeMuted           Code = "muted"           // 403
	CodeBanned          Code = "banned"          // 403
	CodeBlocked         Code = "blocked"         // 403
	CodeNotFound        Code = "not_found"       // 404
	CodeExists          Code = "exists"          // 409
	CodeKeyReused       Code = "key_reused"      // 409
	CodeConflict        Code = "conflict"        // 409
	CodeGone            Code = "gone"            // 410
	CodeTooLarge        Code = "too_large"       // 413
	CodeRefused         Code = "refused"         // 422
	CodeRateLimited     Code = "rate_limited"    // 429
	CodeInboxFull       Code = "inbox_full"      // 429
	CodeQuotaFull       Code = "quota_full"      // 429
	CodeBacklogFull     Code = "backlog_full"    // 429
	CodeInternal        Code = "internal"        // 500
	CodeUnavailable     Code = "unavailable"     // 503
)

// Error is the one error type of the domain: a code for programs, a message for people and a cause for operators.
// The cause is logged and never sent to a client.
type Error struct {
	Code       Code
	Message    string
	RetryAfter time.Duration // how long to wait before a retry; zero if unknown
	Cause      error
	// Advice is the one part of an error of the inside (a 5xx) that a client gets to see: what it may do about it.
	Advice string
	// Blockers are the members that a send waits for, of a CodeBacklogFull.
	Blockers []Blocker
	// Until is when a CodeMuted or a CodeBanned ends; nil: it has no end.
	Until *Time
	// Length is how many bytes of a stream stand, of a CodeConflict about one; nil: it is about something else.
	Length *int64
	// Reason is why a CodeRefused was refused, for its sender; empty: none was given.
	Reason string
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Cause)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

func (e *Error) Unwrap() error { return e.Cause }

// Is makes errors.Is compare by code, so that errors.Is(err, chat.ErrNotFound) holds for every not_found.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Unavailable is ErrUnavailable with its cause, for operators.
func Unavailable(cause error) *Error {
	return &Error{Code: CodeUnavailable, Message: ErrUnavailable.Message, RetryAfter: ErrUnavailable.RetryAfter, Cause: cause}
}

// Errorf makes an Error whose message is meant for the caller of the API.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// OutOfRange is the error of a number that is not in low to high.
func OutOfRange(field string, low, high int64) *Error {
	return Errorf(CodeOutOfRange, "%s: must be %d to %d", field, low, high)
}

// Ends tells whether the error says until when it holds: Until, also where that is nil.
func (e *Error) Ends() bool { return e.Code == CodeMuted || e.Code == CodeBanned }

// never is the time that stands for no end on the wire, where a time is needed.
var never = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// Muted refuses what a muted member may not do.
func Muted(until Time) *Error {
	if !until.Before(never) {
		return Errorf(CodeMuted, "you may not write in this group")
	}
	e := Errorf(CodeMuted, "you may not write in this group until %s", until)
	e.Until = &until
	return e
}

// Banned refuses to let a banned user in; nil: for ever.
func Banned(until *Time) *Error {
	if until == nil {
		return Errorf(CodeBanned, "you are banned from this group")
	}
	e := Errorf(CodeBanned, "you are banned from this group until %s", until)
	e.Until = until
	return e
}

// Slowed refuses a message in a group in slow mode that comes too soon.
func Slowed(wait time.Duration) *Error {
	e := Errorf(CodeRateLimited, "the group is in slow mode: wait before you send again")
	e.RetryAfter = wait
	return e
}

// CodeOf returns the code of err: that of the Error it wraps, CodeInternal for any other error, "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

// ErrArchived is the answer of a store to a step whose target it has trimmed, and an archive may have. Where nobody asks the
// archive it is not_found; IsArchived tells the two apart.
var ErrArchived = &Error{Code: CodeNotFound, Message: "no such group or message"}

// ErrNoRoot is the answer to a reply in the thread of what has none.
var ErrNoRoot = &Error{Code: CodeOutOfRange, Message: "thread: want the id of a text or data that is itself in no thread"}

// IsArchived tells whether err is ErrArchived.
func IsArchived(err error) bool {
	var e *Error
	return errors.As(err, &e) && e == ErrArchived
}

// Errors that stores return and the service refines. Compare with errors.Is.
var (
	ErrNotFound    = &Error{Code: CodeNotFound, Message: "no such group or message"}
	ErrForbidden   = &Error{Code: CodeForbidden, Message: "not allowed"} // to compare with; an answer says who may
	ErrExists      = &Error{Code: CodeExists, Message: "it exists already"}
	ErrKeyReused   = &Error{Code: CodeKeyReused, Message: "this key was used with other content"}
	ErrConflict    = &Error{Code: CodeConflict, Message: "it changed meanwhile"}
	ErrOutOfRange  = &Error{Code: CodeOutOfRange, Message: "out of range"}
	ErrBlocked     = &Error{Code: CodeBlocked, Message: "they block you"}
	ErrInboxFull   = &Error{Code: CodeInboxFull, Message: "the inbox of the recipient is full"}
	ErrUnavailable = &Error{Code: CodeUnavailable, Message: "the store cannot be reached; try again", RetryAfter: time.Second}
	// ErrStoreAway is a cause of ErrUnavailable: the store is down, and calls fail at once until it is back. It was logged once.
	ErrStoreAway = errors.New("the store does not answer: nothing was tried")
	// ErrGone is for the service alone, so it carries no code: an earlier group of the id is not cleaned up yet.
	ErrGone = errors.New("the group was deleted a moment ago")
)

// These errors say who may do what was refused. All of them match ErrForbidden in errors.Is.
var (
	ErrMembersOnly  = Errorf(CodeForbidden, "only members of the group may do this")
	ErrManagersOnly = Errorf(CodeForbidden, "only the owner and admins of the group may do this")
	ErrPostersOnly  = Errorf(CodeForbidden, "only the owner and admins may post in this group")
	ErrNobodyPosts  = Errorf(CodeForbidden, "nobody may post in this group at the moment")
	ErrReach        = Errorf(CodeForbidden, "groups: the key may do this only in its groups")
	ErrDeletersOnly = Errorf(CodeForbidden, "only the author, the owner and admins may delete a message")
)

// AsError converts err into what answers need: an Error of this package. Any other error becomes the cause of an internal
// one, because its text is not meant for clients.
func AsError(err error) error {
	var e *Error
	var r *InReview
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return err
	case errors.As(err, &r):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Unavailable(err)
	}
	return &Error{Code: CodeInternal, Message: "internal error", Cause: err}
}
