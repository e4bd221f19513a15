package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/gorilla/websocket"
)

// bareVariable makes this program a server that does nothing but hold its clients: the floor for what one of them takes
// of a node.
const bareVariable = "CHATD_BENCH_BARE"

// bareServer is such a process.
type bareServer struct {
	addr string
	cmd  *exec.Cmd
	in   io.Closer
}

func startBare(ctx context.Context) (*bareServer, error) { return startSelf(ctx, bareVariable+"=1") }

// startSelf starts this program as the server that a variable of its environment makes it.
func startSelf(ctx context.Context, variable string) (*bareServer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), variable)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, errors.Join(err, in.Close(), cmd.Wait())
	}
	return &bareServer{strings.TrimSpace(line), cmd, in}, nil
}

// stop ends the process.
func (s *bareServer) stop() error { return errors.Join(s.in.Close(), s.cmd.Wait()) }

// holdClients is the process: it writes its address, and serves until in ends.
func holdClients(in io.Reader, out io.Writer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it ends with the process
	if err != nil {
		return err
	}
	upgrader := websocket.Upgrader{Subprotocols: []string{subprotocol}, ReadBufferSize: 512, WriteBufferPool: &sync.Pool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/ws", func(w http.ResponseWriter, r *http.Request) {
		if c, err := upgrader.Upgrade(w, r, nil); err == nil {
			go holdSocket(c) // the goroutine of the handshake has a larger stack
		}
	})
	mux.HandleFunc("/v1/sync", func(_ http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err == nil {
			<-r.Context().Done()
		}
	})
	if _, err := fmt.Fprintln(out, listener.Addr()); err != nil {
		return err
	}
	go func() { _ = http.Serve(listener, mux) }() //nolint:gosec // no timeouts: clients wait, on loopback
	_, err = io.Copy(io.Discard, in)
	return err
}

// holdSocket answers the hello, and reads until the client is gone.
func holdSocket(c *websocket.Conn) {
	defer func() { _ = c.Close() }()
	if _, _, err := c.ReadMessage(); err != nil {
		return
	}
	if err := c.WriteMessage(websocket.TextMessage, []byte(welcomeFrame)); err != nil {
		return
	}
	for {
		if _, _, err := c.ReadMessage(); err != nil {
			return
		}
	}
}
