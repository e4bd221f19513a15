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

	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/web/auth"
)

const secret = "a secret of the bench with 32 bytes or more"

// serve runs a whole node on the run's redis-server and returns its URL. bounded: it works on as many calls at once as by default,
// otherwise on all.
func (b *bench) serve(bounded bool) (string, error) {
	url, stop, err := b.node(b.redis.URL(), bounded, "off")
	if err == nil {
		b.tb.Cleanup(stop)
	}
	return url, err
}

// folder is where the files of a store lie: the same one for all nodes on a redis-server.
func (b *bench) folder(redis string) string {
	if b.folders[redis] == "" {
		b.folders[redis] = b.tb.TempDir()
	}
	return b.folders[redis]
}

// node runs a whole node on a redis-server and an archive until stop.
func (b *bench) node(redis string, bounded bool, archive string) (url string, stop func(), err error) {
	cfg, err := node.Default()
	if err != nil {
		return "", nil, err
	}
	cfg.Addr, cfg.Redis, cfg.JWTSecret, cfg.Data, cfg.Log = "127.0.0.1:0", redis, secret, b.tb.TempDir(), "error"
	cfg.Archive, cfg.Files = archive, "dir:"+b.folder(redis)
	if !bounded {
		cfg.MaxCallsNode = "off"
	}
	cfg.RateUser, cfg.RateSend, cfg.MaxFirings = "1000000/s", "1000000/s", "10000" // counted, and never reached
	n, err := node.Open(b.ctx, cfg, io.Discard)
	if err != nil {
		return "", nil, err
	}
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
	}, nil
}

// sendingHTTP has 64 connections send through a whole node, and to a server that does no more than check the token. The client and
// both servers are in this process.
func sendingHTTP(b *bench, raw float64) error {
	url, err := b.serve(false) // callers that do not come again may not be refused
	if err != nil {
		return err
	}
	constant, stop, err := constantServer()
	if err != nil {
		return err
	}
	defer stop()
	most, err := postRate(b, constant)
	if err != nil {
		return err
	}
	rate, err := postRate(b, url)
	if err != nil {
		return err
	}
	b.table.rate("through HTTP, 64 connections (client in this process)", rate, raw, "unpipelined")
	b.table.rate("the same, from an Echo handler that checks the token and answers a constant", most, raw, "unpipelined")
	b.table.rate("through HTTP, beside that handler", rate, most, "the handler; target 0.45")
	return nil
}

const sendsPath = "/v1/groups/send/messages"

// constantServer answers sends without doing anything.
func constantServer() (url string, stop func(), err error) {
	key := func(*jwt.Token) (any, error) { return []byte(secret), nil }
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.POST(sendsPath, func(c echo.Context) error {
		token, _ := strings.CutPrefix(c.Request().Header.Get("Authorization"), "Bearer ")
		if _, err := jwt.Parse(token, key, jwt.WithValidMethods([]string{"HS256"})); err != nil {
			return err
		}
		return c.JSONBlob(http.StatusCreated, []byte(`{"id":1}`))
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed by stop
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: e} //nolint:gosec // no timeouts: on loopback
	go func() { _ = server.Serve(listener) }()
	return "http://" + listener.Addr().String(), func() { _ = server.Close() }, nil
}

// postRate has 64 connections send to the server at url, and returns how many sends it answers a second.
func postRate(b *bench, url string) (float64, error) {
	token, _, err := auth.SignToken([]byte(secret), auth.Claims{User: "owner", TTL: time.Hour}, time.Now())
	if err != nil {
		return 0, err
	}
	const callers = 64
	transport := &http.Transport{MaxIdleConnsPerHost: callers}
	defer transport.CloseIdleConnections()
	caller := &http.Client{Transport: transport}
	text, err := json.Marshal(map[string]string{"body": *body})
	if err != nil {
		return 0, err
	}
	return parallel(scaled(20_000), callers, func(int) error {
		req, err := http.NewRequestWithContext(b.ctx, http.MethodPost, url+sendsPath, bytes.NewReader(text))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		res, err := caller.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			return err
		}
		if res.StatusCode != http.StatusCreated {
			return fmt.Errorf("a send answers %s", res.Status)
		}
		return nil
	})
}
