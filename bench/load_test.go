package main

import (
	"net"
	"net/http"
	"testing"
	"time"
)

// TestLoadDialsAgain asks so little that the server ends the connections before their requests come.
func TestLoadDialsAgain(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{}, 1000)
	server := &http.Server{ReadHeaderTimeout: 30 * time.Millisecond, IdleTimeout: 30 * time.Millisecond,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }),
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				ended <- struct{}{}
			}
		}}
	go func() { _ = server.Serve(listener) }()
	defer func() { _ = server.Close() }()
	const asked = 12
	done, err := load{Addr: listener.Addr().String(), Requests: []string{"GET / HTTP/1.1\r\nHost: bench\r\n\r\n"},
		Connections: 4, PerSecond: 20, For: asked * time.Second / 20}.do()
	if err != nil || len(done.Served) != asked {
		t.Fatalf("got %d answers of %d, %v", len(done.Served), asked, err)
	}
	if len(ended) == 0 {
		t.Fatal("the server ended no connection")
	}
}
