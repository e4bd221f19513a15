package ws

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/users"
)

// Close codes of the protocol chatd.v1. After all but 4403 and 4409, clients may reconnect.
const (
	closeBadFrame        = 4400 // not a text frame with a JSON object
	closeUnauthenticated = 4401 // no token, or it was refused, was revoked or has expired
	closeForbidden       = 4403 // the user is disabled, or the key may not act so
	closeNoHello         = 4408
	closeDisconnected    = 4408 // an operator or the user asked for it
	closeTooMany         = 4409 // too many sessions of the user, or of the node
	closeStalled         = 4413 // the client read nothing for too long
	closeTooFast         = 4429
)

// ending is why a session ends: the close frame for its client.
type ending struct {
	code   int    // 0: none, the connection is gone
	reason string // at most 123 bytes: a close frame has no room for more
	brisk  bool   // there are too many sockets already: do not wait long for the client to read the frame
}

// refused is the ending for who is not let in, or no longer. ok is false for an error that leaves the socket open.
func refused(err error) (why ending, ok bool) {
	var e *chat.Error
	switch {
	case !errors.As(err, &e):
		return why, false
	case e == users.ErrDisabled:
		return ending{code: closeForbidden, reason: e.Message}, true
	case e.Code == chat.CodeUnauthenticated:
		return ending{code: closeUnauthenticated, reason: e.Message}, true
	}
	return why, false
}

// restarting is the ending for a drain. Each client gets a random time to reconnect, so that they do not all come back
// at once.
func restarting(spread time.Duration) ending {
	after := time.Second + rand.N(max(spread, time.Second))
	return ending{code: websocket.CloseServiceRestart, reason: fmt.Sprintf("restarting; retry_after_ms=%d", after.Milliseconds())}
}
