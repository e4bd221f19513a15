package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/centrifugal/centrifuge"
	"github.com/gorilla/websocket"
)

// hubVariable makes this program a server that delivers what is published to the sockets of a group: "bare", "memory", or
// "redis:ADDRESS" for centrifuge with that engine. It writes its address, and serves until its input ends.
const hubVariable = "CHATD_BENCH_HUB"

const (
	hubQueue   = 256 // messages that wait for a socket
	hubHistory = 128 // messages of a group that centrifuge keeps for clients that come back: as many as chatd has in memory
)

func deliver(kind string, in io.Reader, out io.Writer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it ends with the process
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	if kind == "bare" {
		bareHub(mux)
	} else if err := centrifugeHub(mux, strings.TrimPrefix(kind, "redis:"), kind == "memory"); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, listener.Addr()); err != nil {
		return err
	}
	go func() { _ = http.Serve(listener, mux) }() //nolint:gosec // no timeouts: clients wait, on loopback
	_, err = io.Copy(io.Discard, in)
	return err
}

// bareHub is a queue and a goroutine for each socket, and one frame a delivery: it knows no tokens, keeps nothing, and checks
// nothing.
func bareHub(mux *http.ServeMux) {
	var mu sync.RWMutex
	groups := map[string]map[chan *websocket.PreparedMessage]bool{}
	upgrader := websocket.Upgrader{ReadBufferSize: 512, WriteBufferPool: &sync.Pool{}}
	mux.HandleFunc("/ws", func(w http.ResponseWriter, r *http.Request) {
		c, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		group, queue := r.URL.Query().Get("group"), make(chan *websocket.PreparedMessage, hubQueue)
		mu.Lock()
		if groups[group] == nil {
			groups[group] = map[chan *websocket.PreparedMessage]bool{}
		}
		groups[group][queue] = true
		mu.Unlock()
		go func() {
			for m := range queue {
				if c.WritePreparedMessage(m) != nil {
					break
				}
			}
		}()
		go func() {
			_ = c.WriteMessage(websocket.TextMessage, []byte(welcomeFrame+"}"))
			for {
				if _, _, err := c.NextReader(); err != nil {
					break
				}
			}
			mu.Lock()
			delete(groups[group], queue)
			mu.Unlock()
			_ = c.Close()
		}()
	})
	mux.HandleFunc("/publish", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		m, err := websocket.NewPreparedMessage(websocket.TextMessage, body)
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		mu.RLock()
		for queue := range groups[r.URL.Query().Get("group")] {
			queue <- m
		}
		mu.RUnlock()
		_, _ = io.WriteString(w, "{}")
	})
}

// centrifugeHub is centrifuge with history and recovery, which are what chatd always has. Its clients are subscribed by the server as they
// connect, which saves them a round trip, and it sends as many messages in a frame as wait.
func centrifugeHub(mux *http.ServeMux, redis string, memory bool) error {
	node, err := centrifuge.New(centrifuge.Config{LogLevel: centrifuge.LogLevelNone})
	if err != nil {
		return err
	}
	if !memory {
		shard, err := centrifuge.NewRedisShard(node, centrifuge.RedisShardConfig{Address: redis})
		if err != nil {
			return err
		}
		broker, err := centrifuge.NewRedisBroker(node, centrifuge.RedisBrokerConfig{Shards: []*centrifuge.RedisShard{shard}})
		if err != nil {
			return err
		}
		node.SetBroker(broker)
	}
	node.OnConnecting(func(_ context.Context, e centrifuge.ConnectEvent) (centrifuge.ConnectReply, error) {
		var hello struct{ User, Group string }
		if err := json.Unmarshal(e.Data, &hello); err != nil {
			return centrifuge.ConnectReply{}, err
		}
		return centrifuge.ConnectReply{
			Credentials:        &centrifuge.Credentials{UserID: hello.User},
			Subscriptions:      map[string]centrifuge.SubscribeOptions{hello.Group: {EnableRecovery: true}},
			MaxMessagesInFrame: -1,
		}, nil
	})
	if err := node.Run(); err != nil {
		return err
	}
	mux.Handle("/ws", centrifuge.NewWebsocketHandler(node, centrifuge.WebsocketConfig{
		CheckOrigin: func(*http.Request) bool { return true }, ReadBufferSize: 512, UseWriteBufferPool: true, WriteTimeout: time.Minute,
		PingPongConfig: centrifuge.PingPongConfig{PingInterval: -1, PongTimeout: -1},
	}))
	mux.HandleFunc("/publish", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			_, err = node.Publish(r.URL.Query().Get("group"), body, centrifuge.WithHistory(hubHistory, time.Hour))
		}
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, "{}")
	})
	return nil
}

// dialHub opens a socket of a user in a group, and returns once the server has it.
func dialHub(ctx context.Context, kind, addr, user, group string) (*websocket.Conn, error) {
	dialer := websocket.Dialer{ReadBufferSize: 4 << 10, WriteBufferSize: 512}
	if kind == "chatd" {
		return dialChatd(ctx, dialer, addr, user)
	}
	c, res, err := dialer.DialContext(ctx, "ws://"+addr+"/ws?group="+group, nil)
	if err != nil {
		return nil, err
	}
	_ = res.Body.Close()
	if kind != "bare" {
		hello := fmt.Sprintf(`{"id":1,"connect":{"data":{"user":%q,"group":%q}}}`, user, group)
		if err := c.WriteMessage(websocket.TextMessage, []byte(hello)); err != nil {
			return nil, err
		}
	}
	_, answer, err := c.ReadMessage()
	if err == nil && strings.Contains(string(answer), `"error"`) {
		err = errors.New(string(answer))
	}
	return c, err
}

// dialChatd opens a socket of a user who takes what is new from now on.
func dialChatd(ctx context.Context, dialer websocket.Dialer, addr, user string) (*websocket.Conn, error) {
	dialer.Subprotocols = []string{subprotocol}
	c, res, err := dialer.DialContext(ctx, "ws://"+addr+"/v1/ws", http.Header{"Authorization": {"Bearer " + tokenOf(user)}})
	if err != nil {
		return nil, err
	}
	_ = res.Body.Close()
	if err := c.WriteMessage(websocket.TextMessage, []byte(`{"op":"hello"}`)); err != nil {
		return nil, err
	}
	_, _, err = c.ReadMessage()
	return c, err
}
