package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/internal/redistest"
)

const (
	arrivalsPerSecond = 20
	arrivalsBefore    = 2 * time.Second // messages are sent before anybody connects, so that there is a log to read
	arrivalsAfter     = 3 * time.Second // and go on after all have connected
)

// arrivals measures a new group whose members all connect at once, none with a position, while messages go out: how late those are that
// were sent after a member was welcome, and what all of it costs the store.
func arrivals(b *bench) {
	b.build()
	members := max(2, scaled(1000))
	b.table.section(fmt.Sprintf("%d members of a new group connect at once while %d messages a second go out, lowest and highest of %d rounds",
		members, arrivalsPerSecond, scaled(deliveryRounds)))
	for _, hub := range hubs[:2] {
		var p50, p99, storm, cpu, commands []float64
		for range scaled(deliveryRounds) {
			a := arriveAt(b, hub, members)
			p50, p99, storm = append(p50, ms(a.late, 50)), append(p99, ms(a.late, 99)), append(storm, float64(a.storm.Milliseconds()))
			cpu, commands = append(cpu, a.cpu), append(commands, a.commands)
		}
		b.table.count(hub, "late by %s ms, p99 %s ms; all connected within %s ms; %s us of the server and %s commands of Redis a member",
			spanned("%.1f", p50), spanned("%.1f", p99), spanned("%.0f", storm), spanned("%.0f", cpu), spanned("%.1f", commands))
	}
}

// ms is a percentile in milliseconds; 0 of nothing.
func ms(late []time.Duration, percent int) float64 {
	if len(late) == 0 {
		return 0
	}
	slices.Sort(late)
	return float64(late[min(len(late)-1, len(late)*percent/100)].Microseconds()) / 1000
}

// arrived is what came of one round.
type arrived struct {
	late     []time.Duration
	storm    time.Duration
	cpu      float64 // us of the server a member
	commands float64 // of Redis a member, with those that the messages cost
}

func arriveAt(b *bench, hub string, members int) (a arrived) {
	server := redistest.Start(b.tb)
	defer server.Kill()
	s := startHub(b, hub, server, members, members)
	defer s.stop()
	before := untilQuiet(b, s.pid)
	server.Do("CONFIG", "RESETSTAT")
	ctx, stop := context.WithCancel(b.ctx)
	defer stop()
	var publishing sync.WaitGroup
	var failed error
	publishing.Go(func() { failed = publishTimes(ctx, s.kind, s.addr) })
	ok(pause(b.ctx, shorter(arrivalsBefore)))

	conns, welcome := make([]*websocket.Conn, members), make([]time.Time, members)
	var readers sync.WaitGroup
	late := make([][]time.Duration, members)
	began := time.Now()
	parallel(members, 256, func(i int) (err error) {
		conns[i], err = dialHub(b.ctx, s.kind, s.addr, deliveryUser(i), deliveryGroup(0))
		welcome[i] = time.Now()
		if err == nil {
			readers.Go(func() { late[i] = lateness(conns[i], welcome[i]) })
		}
		return err
	})
	a.storm = time.Since(began)
	ok(pause(b.ctx, shorter(arrivalsAfter)))
	stop()
	publishing.Wait()
	ok(failed)
	untilQuiet(b, s.pid)
	a.cpu = float64((usedBy(s.pid).cpu - before.cpu).Microseconds()) / float64(members)
	for name, n := range server.Calls() {
		if name != "config|resetstat" {
			a.commands += float64(n) / float64(members)
		}
	}
	for _, c := range conns {
		_ = c.Close()
	}
	readers.Wait()
	a.late = slices.Concat(late...)
	return a
}

// publishTimes publishes messages with the time at which they were due, until ctx ends.
func publishTimes(ctx context.Context, kind, addr string) error {
	for tick := time.NewTicker(time.Second / arrivalsPerSecond); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return nil
		case <-tick.C:
		}
		text := deliveryMark + strconv.FormatInt(time.Now().UnixNano(), 10) + "~"
		path, body := "/publish?group="+deliveryGroup(0), `"`+text+`"`
		if kind == "chatd" {
			path, body = "/v1/groups/"+deliveryGroup(0)+"/messages", `{"body":"`+text+`"}`
		}
		r, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodPost, "http://"+addr+path, strings.NewReader(body))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+tokenOf(deliveryUser(0)))
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if res.StatusCode >= http.StatusMultipleChoices && res.StatusCode != http.StatusServiceUnavailable { // refused under load: it does not count
			return fmt.Errorf("a message is answered with %s", res.Status)
		}
	}
}

// lateness reads a socket until it ends, and returns how late the messages were that were sent after a time.
func lateness(c *websocket.Conn, after time.Time) (late []time.Duration) {
	for {
		_, frame, err := c.ReadMessage()
		if err != nil {
			return late
		}
		now := time.Now()
		for _, part := range bytes.Split(frame, []byte(deliveryMark))[1:] {
			digits, _, _ := bytes.Cut(part, []byte("~"))
			if ns, err := strconv.ParseInt(string(digits), 10, 64); err == nil && ns > after.UnixNano() {
				late = append(late, now.Sub(time.Unix(0, ns)))
			}
		}
	}
}
