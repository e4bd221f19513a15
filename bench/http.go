package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/web/auth"
)

const secret = "a secret of the bench with 32 bytes or more"

// serve runs a whole node on the run's redis-server and returns its URL. callsMax is how many calls it works on at once.
func (b *bench) serve(callsMax string) (string, error) {
	url, stop, err := b.node(b.redis.URL(), callsMax, "off")
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
func (b *bench) node(redis, callsMax, archive string) (url string, stop func(), err error) {
	cfg, err := node.Default()
	if err != nil {
		return "", nil, err
	}
	cfg.Addr, cfg.Redis, cfg.JWTSecret, cfg.Data, cfg.Log = "127.0.0.1:0", redis, secret, b.tb.TempDir(), "error"
	cfg.Archive, cfg.MaxCallsNode, cfg.Files = archive, callsMax, "dir:"+b.folder(redis)
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

// sendingHTTP has 64 connections send through a whole node, client and server in this process.
func (b *bench) sendingHTTP(raw float64) error {
	url, err := b.serve("off") // callers that do not come again may not be refused
	if err != nil {
		return err
	}
	token, _, err := auth.SignToken([]byte(secret), auth.Claims{User: "owner", TTL: time.Hour}, time.Now())
	if err != nil {
		return err
	}
	const callers = 64
	transport := &http.Transport{MaxIdleConnsPerHost: callers}
	defer transport.CloseIdleConnections()
	caller := &http.Client{Transport: transport}
	text, err := json.Marshal(map[string]string{"body": *body})
	if err != nil {
		return err
	}
	rate, err := parallel(scaled(20_000), callers, func(int) error {
		req, err := http.NewRequestWithContext(b.ctx, http.MethodPost, url+"/v1/groups/send/messages", bytes.NewReader(text))
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
	if err != nil {
		return err
	}
	b.table.rate("through HTTP, 64 connections (client in this process)", rate, raw, "unpipelined")
	return nil
}
