package main

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

const (
	deliverySockets    = 2000
	deliveryPublishers = 64
	deliveryFor        = 5 * time.Second
	deliveryRounds     = 3
	deliveryMark       = "~mark~" // in the text of every message, once
)

// hubs are what is measured in turn. The engine of the others keeps the same history as chatd.
var hubs = []string{"chatd", "centrifuge, Redis", "centrifuge, memory", "bare hub"}

// delivered is what one server has done in one round.
type delivered struct {
	perSecond float64
	cpu       float64 // us of the server a delivery
	idle      float64 // KiB a socket
	storm     time.Duration
}

// deliveries compares chatd with centrifuge and with a hub that only delivers: websockets in groups, and connections that publish
// as fast as they are answered. The servers take turns, so that what else the machine does hits all of them.
func deliveries(b *bench) {
	b.build()
	for _, size := range []int{10, 100, 1000}[:min(3, scaled(60))] {
		size = max(2, min(size, scaled(deliverySockets)))
		sockets := max(1, scaled(deliverySockets)/size) * size
		b.table.section(fmt.Sprintf("deliveries to %d websockets in groups of %d, lowest and highest of %d rounds", sockets, size, scaled(deliveryRounds)))
		rounds := map[string][]delivered{}
		for range scaled(deliveryRounds) {
			for _, hub := range hubs {
				rounds[hub] = append(rounds[hub], deliverThrough(b, hub, sockets, size))
			}
		}
		for _, hub := range hubs {
			var rate, ratio, cpu, idle, storm []float64
			for i, d := range rounds[hub] {
				rate, ratio = append(rate, d.perSecond), append(ratio, rounds["chatd"][i].perSecond/d.perSecond)
				cpu, idle, storm = append(cpu, d.cpu), append(idle, d.idle), append(storm, float64(d.storm.Milliseconds()))
			}
			r := row{what: hub, figure: fmt.Sprintf("%s/s, %s us of the server a delivery, %s KiB an idle socket, all connected within %s ms",
				spanned("%.0f", rate), spanned("%.1f", cpu), spanned("%.1f", idle), spanned("%.0f", storm))}
			if hub != "chatd" {
				r.ratio, r.against = spanned("%.2f", ratio), "chatd's deliveries by its"
			}
			b.table.add(r)
		}
	}
}

// runningHub is one of hubs.
type runningHub struct {
	kind, addr string
	pid        int
	stop       func()
}

// startHub starts one of hubs, with groups of so many if it has members.
func startHub(b *bench, hub string, server *redistest.Server, sockets, size int) runningHub {
	if hub == "chatd" {
		readerGroups(b, server, deliveryReaders(sockets, size))
		node := harness.StartNode(b.tb, harness.Config{Redis: server.URL(), Env: map[string]string{
			"CHATD_ARCHIVE": "off", "CHATD_MAX_CONNS_IP": "off", "CHATD_RATE_USER": "off", "CHATD_RATE_SEND": "off", "CHATD_RATE_IP": "off"}})
		untilNoTasks(b, node)
		return runningHub{"chatd", node.Addr, node.Pid(), node.Kill}
	}
	kind := "redis:" + server.Addr
	switch hub {
	case "bare hub":
		kind = "bare"
	case "centrifuge, memory":
		kind = "memory"
	}
	s := must(startSelf(b.ctx, hubVariable+"="+kind))
	return runningHub{kind, s.addr, s.cmd.Process.Pid, func() { _ = s.stop() }}
}

// deliverThrough measures one server in one round.
func deliverThrough(b *bench, hub string, sockets, size int) (d delivered) {
	server := redistest.Start(b.tb)
	defer server.Kill()
	running := startHub(b, hub, server, sockets, size)
	defer running.stop()
	kind, addr, pid := running.kind, running.addr, running.pid
	before := untilQuiet(b, pid)
	conns, began := make([]*websocket.Conn, sockets), time.Now()
	parallel(sockets, 64, func(i int) (err error) {
		conns[i], err = dialHub(b.ctx, kind, addr, deliveryUser(i), deliveryGroup(i/size))
		return err
	})
	d.storm = time.Since(began)
	var marks atomic.Int64
	var readers sync.WaitGroup
	for _, c := range conns {
		readers.Go(func() { countMarks(c, &marks) })
	}
	idle := untilQuiet(b, pid)
	d.idle = (idle.bytes - before.bytes) / 1024 / float64(sockets)

	var requests []string
	for g := range sockets / size {
		requests = append(requests, publishing(kind, g*size, g))
	}
	marks.Store(0)
	used, began := usedBy(pid), time.Now()
	must(load{Addr: addr, Requests: requests, Connections: max(deliveryPublishers, len(requests)), For: shorter(deliveryFor)}.run(b.ctx))
	n := float64(marks.Load())
	d.perSecond = n / time.Since(began).Seconds()
	d.cpu = float64((usedBy(pid).cpu - used.cpu).Microseconds()) / max(n, 1)
	for _, c := range conns {
		_ = c.Close()
	}
	readers.Wait()
	return d
}

func deliveryUser(i int) string  { return fmt.Sprint("reader-", i) }
func deliveryGroup(g int) string { return fmt.Sprint("delivered-", g) }

func deliveryReaders(sockets, size int) []reader {
	list := make([]reader, sockets)
	for i := range list {
		list[i] = reader{user: deliveryUser(i), groups: []string{deliveryGroup(i / size)}}
	}
	return list
}

// countMarks reads a socket until it ends, and counts the messages in its frames.
func countMarks(c *websocket.Conn, marks *atomic.Int64) {
	for {
		_, frame, err := c.ReadMessage()
		if err != nil {
			return
		}
		marks.Add(int64(bytes.Count(frame, []byte(deliveryMark))))
	}
}

// publishing is the request by which the first member of a group publishes 200 bytes.
func publishing(kind string, member, g int) string {
	text := deliveryMark + strings.Repeat("x", 200-len(deliveryMark))
	if kind == "chatd" {
		body := `{"body":"` + text + `"}`
		return fmt.Sprintf("POST /v1/groups/%s/messages HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			deliveryGroup(g), tokenOf(deliveryUser(member)), len(body), body)
	}
	body := `"` + text + `"`
	return fmt.Sprintf("POST /publish?group=%s HTTP/1.1\r\nHost: bench\r\nContent-Length: %d\r\n\r\n%s", deliveryGroup(g), len(body), body)
}
