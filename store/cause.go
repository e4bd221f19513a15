package store

import (
	"errors"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/store/conn"
)

// stepError is an error of a step that the store did not do.
type stepError struct {
	step string
	err  error
}

func (e *stepError) Error() string { return "store: " + e.step + ": " + e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

// Is tells that the store is down, in the word of the domain.
func (e *stepError) Is(target error) bool {
	return target == chat.ErrStoreAway && errors.Is(e.err, conn.ErrAway)
}

// CauseOf returns why the store failed with an error of this package or of its client; "": the error says nothing of that.
func CauseOf(err error) conn.Cause {
	var step *stepError
	switch cause := conn.CauseOf(err); {
	case cause != "" || conn.Refused(err):
		return cause
	case errors.Is(err, chat.ErrStoreAway), errors.As(err, &step):
		return conn.CauseAway
	}
	return ""
}

// CauseOfCall is CauseOf for errors that are known to come from a call of the store, though nothing in them says so.
func CauseOfCall(err error) conn.Cause {
	if cause := CauseOf(err); cause != "" {
		return cause
	}
	return conn.CauseOfCall(err)
}
