package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/node"
)

// serve runs a whole node on the run's redis-server and returns its URL. bounded: it works on as many calls at once as by default,
// otherwise on all.
func (b *bench) serve(bounded bool) string {
	url, stop := b.node(b.redis.URL(), bounded, "off")
	b.tb.Cleanup(stop)
	return url
}

// folder is where the files of a store lie: the same one for all nodes on a redis-server.
func (b *bench) folder(redis string) string {
	if b.folders[redis] == "" {
		b.folders[redis] = b.tb.TempDir()
	}
	return b.folders[redis]
}

// node runs a whole node on a redis-server and an archive until stop.
func (b *bench) node(redis string, bounded bool, archive string) (url string, stop func()) {
	cfg := must(node.Default())
	cfg.Addr, cfg.Redis, cfg.JWTSecret, cfg.Data, cfg.Log = "127.0.0.1:0", redis, harness.Secret, b.tb.TempDir(), "error"
	cfg.Archive, cfg.Files = archive, "dir:"+b.folder(redis)
	cfg.EgressAllow = []string{"127.0.0.0/8"} // hooks
	if !bounded {
		cfg.MaxCallsNode = "off"
	}
	cfg.RateUser, cfg.RateSend, cfg.MaxFirings = "1000000/s", "1000000/s", "10000" // counted, and never reached
	n := must(node.Open(b.ctx, cfg, io.Discard))
	ctx, cancel := context.WithCancel(b.ctx)
	done := make(chan struct{})
	go func() {
		_ = n.Run(ctx) // a node that ended shows as calls that fail
		close(done)
	}()
	return "http://" + n.Addr().String(), func() {
		cancel()
		<-done
		_ = n.Close()
	}
}

// sendingHTTP has 64 connections send through a whole node, and to a server that does no more than check the token. The client and
// both servers are in this process.
func sendingHTTP(b *bench, raw float64) {
	url := b.serve(false) // callers that do not come again may not be refused
	constant, stop := constantServer()
	defer stop()
	most := postRate(b, constant)
	rate := postRate(b, url)
	b.table.rate("through HTTP, 64 connections (client in this process)", rate, raw, "unpipelined")
	b.table.rate("the same, from an Echo handler that checks the token and answers a constant", most, raw, "unpipelined")
	b.table.rate("through HTTP, beside that handler", rate, most, "the handler; target 0.45")
}

const sendsPath = "/v1/groups/send/messages"

// constantServer answers sends without doing anything.
func constantServer() (url string, stop func()) {
	key := func(*jwt.Token) (any, error) { return []byte(harness.Secret), nil }
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.POST(sendsPath, func(c echo.Context) error {
		token, _ := strings.CutPrefix(c.Request().Header.Get("Authorization"), "Bearer ")
		if _, err := jwt.Parse(token, key, jwt.WithValidMethods([]string{"HS256"})); err != nil {
			return err
		}
		return c.JSONBlob(http.StatusCreated, []byte(`{"id":1}`))
	})
	listener := must(net.Listen("tcp", "127.0.0.1:0")) //nolint:noctx // closed by stop
	server := &http.Server{Handler: e}                 //nolint:gosec // no timeouts: on loopback
	go func() { _ = server.Serve(listener) }()
	return "http://" + listener.Addr().String(), func() { _ = server.Close() }
}

// postRate has 64 connections send to the server at url, and returns how many sends it answers a second.
func postRate(b *bench, url string) float64 {
	token := tokenOf("owner")
	const callers = 64
	transport := &http.Transport{MaxIdleConnsPerHost: callers}
	defer transport.CloseIdleConnections()
	caller := &http.Client{Transport: transport}
	text := must(json.Marshal(map[string]string{"body": *body}))
	return parallel(scaled(20_000), callers, func(int) error {
		req, err := http.NewRequestWithContext(b.ctx, http.MethodPost, url+sendsPath, bytes.NewReader(text))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		return answered(caller, req, http.StatusCreated)
	})
}

// answered makes a request, and reads the answer to its end. Another status than this one is an error.
func answered(c *http.Client, req *http.Request, status int) error {
	res, err := c.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != status {
		return fmt.Errorf("%s %s: %s", req.Method, req.URL.Path, res.Status)
	}
	_, err = io.Copy(io.Discard, res.Body)
	return err
}

func tokenOf(user string) string { return harness.Token(user, "", time.Hour) }

// userOf is a client of a node.
func userOf(address, user string) *client.Client {
	return must(client.New(address, client.StaticToken(tokenOf(user))))
}
