package web

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/api"
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
}

// restarting is the ending at a drain. Clients that all come back at once would be a storm, so each is told when.
func restarting(spread time.Duration) ending {
	after := time.Second + rand.N(max(spread, time.Second))
	return ending{websocket.CloseServiceRestart, fmt.Sprintf("restarting; retry_after_ms=%d", after.Milliseconds())}
}

// refuse answers a handshake that is not taken.
func refuse(w http.ResponseWriter, err error) {
	code, detail, after := chat.CodeOf(err), "", time.Duration(0)
	var e *chat.Error
	if errors.As(err, &e) {
		detail, after = e.Message, e.RetryAfter
	}
	status := statusOf(code)
	switch status {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		w.Header().Set("Retry-After", strconv.Itoa(max(1, int((after+time.Second-1)/time.Second))))
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusInternalServerError:
		detail = "something went wrong here"
	}
	writeProblem(w, api.Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code, Detail: detail})
}
