package ws_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/web/ws"
)

// A client that has received the close frame may reconnect at once, although the old connection is still closing.
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
