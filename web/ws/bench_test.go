package ws_test

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/ws"
)

// BenchmarkWSFanOut sends b.N messages of 200 bytes to a group, each stored in a real Redis, with all sockets of the
// group in this process too, so the result includes the clients' reading. It ends when every socket has received every
// message.
func BenchmarkWSFanOut(b *testing.B) {
	for _, sockets := range []int{10, 100, 1000} {
		b.Run(strconv.Itoa(sockets), func(b *testing.B) {
			n := startWS(b, ws.SessionOptions{SessionsUserMax: sockets, SilentMax: sockets})
			n.group(b, "red", "ann", "bob")
			clients := make([]*wsClient, sockets)
			for i := range clients {
				clients[i], _ = n.hello(b, "bob", map[string]any{"red": 2})
			}
			body := strings.Repeat("x", 200)
			want := fmt.Appendf(nil, `"to":%d,`, b.N+2)
			b.ResetTimer()
			var readers sync.WaitGroup
			for _, c := range clients {
				_ = c.SetReadDeadline(time.Time{})
				readers.Go(func() {
					for {
						_, frame, err := c.ReadMessage()
						if err != nil {
							b.Error(err)
							return
						}
						if bytes.Contains(frame[:min(len(frame), 200)], want) {
							return
						}
					}
				})
			}
			var senders sync.WaitGroup
			next := make(chan int, b.N)
			for i := range b.N {
				next <- i
			}
			close(next)
			for range 8 {
				senders.Go(func() {
					for i := range next {
						draft := chat.Content{Body: &body, ClientID: fmt.Sprint(i)}
						_, err := n.Send(b.Context(), chat.Caller{User: "ann"}, "red", draft, "")
						for chat.CodeOf(err) == chat.CodeUnavailable { // the machine is too busy to provide a connection in time
							_, err = n.Send(b.Context(), chat.Caller{User: "ann"}, "red", draft, "")
						}
						if err != nil {
							b.Error(err)
						}
					}
				})
			}
			senders.Wait()
			readers.Wait()
			b.ReportMetric(float64(b.N)*float64(sockets)/b.Elapsed().Seconds(), "deliveries/s")
		})
	}
}
