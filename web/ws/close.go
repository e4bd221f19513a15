package ws

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gorilla/websocket"
)

// Close codes of the protocol chatd.v1. All but 4403 and 4409 may be answered by connecting again.
const (
	closeBadFrame        = 4400 // not a text frame that holds a JSON object
	closeUnauthenticated = 4401 // no token, or one that is refused or has expired
	closeNoHello         = 4408
	closeTooMany         = 4409 // sessions of the user, or of the node
	closeStalled         = 4413 // the client took nothing for too long
	closeTooFast         = 4429
)

// ending is why a session ends: the close frame that its client is to get.
type ending struct {
	code   int    // 0: none, the connection is gone
	reason string // at most 123 bytes: a close frame has no room for more
	brisk  bool   // there are too many sockets already: this one does not wait long for its client to read the frame
}

// restarting is the ending at a drain. Clients that all come back at once would be a storm, so each gets a time to come back.
func restarting(spread time.Duration) ending {
	after := time.Second + rand.N(max(spread, time.Second))
	return ending{code: websocket.CloseServiceRestart, reason: fmt.Sprintf("restarting; retry_after_ms=%d", after.Milliseconds())}
}
