package ws_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/web/ws"
)

// Whoever has got the close frame may take the place of the session at once, although the old connection is not down yet.
func TestWSPlaceIsFree(t *testing.T) {
	n := startWS(t, ws.SessionOptions{SessionsUserMax: 1})
	for i := range 5 {
		c, _ := n.hello(t, "bob", nil)
		bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, fmt.Sprint(i))
		if err := c.WriteControl(websocket.CloseMessage, bye, time.Now().Add(wsPatience)); err != nil {
			t.Fatal(err)
		}
		c.closed(websocket.CloseNormalClosure)
	}
}
