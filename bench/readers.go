package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
)

const (
	subprotocol  = "chatd.v1"
	welcomeFrame = `{"op":"welcome"`

	readersOfGroup = 100
	groupsOfReader = 20  // of one that has many
	clockTicks     = 100 // a second, in which Linux counts the time of a process
)

// readers measures what a reader that waits takes of a node, beside servers that do nothing but hold their clients.
func readers(b *bench) {
	sockets, polls := scaled(5000), scaled(2000)
	b.table.section(fmt.Sprintf("what a waiting reader takes of a node (%d websockets, %d long polls, groups of %d)", sockets, polls, readersOfGroup))
	b.build()
	server := redistest.Start(b.tb)
	defer server.Kill()
	for _, load := range []struct {
		what   string
		n      int
		groups int
		target string
		hold   func(ctx context.Context, addr string, r reader) (closer, error)
	}{
		{"an idle websocket", sockets, 1, "target 14 KiB", holdWebsocket},
		{fmt.Sprintf("an idle websocket, %d groups", groupsOfReader), sockets, groupsOfReader, "target 20 KiB", holdWebsocket},
		{"a waiting poll", polls, 1, "target 20 KiB", holdPoll},
	} {
		bare := bareCost(b, load.n, load.hold)
		b.table.count("a server that only holds it: "+load.what, "%s", bare)
		own := nodeCost(b, server, load.n, load.groups, load.hold)
		b.table.add(row{"chatd: " + load.what, own.String(), fmt.Sprintf("%.1f", own.bytes/bare.bytes), "the memory of the bare server; " + load.target})
	}
}

// cost is what one client takes of a process.
type cost struct {
	bytes float64 // resident
	cpu   time.Duration
}

func (c cost) String() string {
	return fmt.Sprintf("%.1f KiB resident, %d us of processor to connect", c.bytes/1024, c.cpu.Microseconds())
}

// bareCost is what n clients take of a bare server, each.
func bareCost(b *bench, n int, hold func(context.Context, string, reader) (closer, error)) cost {
	s := must(startBare(b.ctx))
	defer func() { _ = s.stop() }()
	return holding(b, s.cmd.Process.Pid, s.addr, readersOf(n, 1), hold)
}

// nodeCost is what n clients take of a node, each a member of some groups and up to date.
func nodeCost(b *bench, server *redistest.Server, n, groups int, hold func(context.Context, string, reader) (closer, error)) cost {
	server.Do("FLUSHALL")
	list := readersOf(n, groups)
	readerGroups(b, server, list)
	node := harness.StartNode(b.tb, harness.Config{Redis: server.URL(), Env: map[string]string{"CHATD_ARCHIVE": "off"}})
	defer node.Kill()
	untilNoTasks(b, node)
	node.Kill() // what the tasks left behind is not the readers'
	node.Start()
	return holding(b, node.Pid(), node.Addr, list, hold)
}

// reader is a client that waits.
type reader struct {
	user   string
	groups []string
	last   int64 // id in each of its groups
}

func readersOf(n, groups int) []reader {
	list := make([]reader, n)
	for i := range list {
		list[i].user = fmt.Sprint("reader-", i)
		list[i].last = 1 + readersOfGroup/chat.NoticeUsersMax // its creation, and a notice of who joined
		for g := range groups {
			list[i].groups = append(list[i].groups, fmt.Sprintf("held-%d-%d", i/readersOfGroup, g))
		}
	}
	return list
}

// readerGroups makes the groups of the readers.
func readerGroups(b *bench, server *redistest.Server, list []reader) {
	own := &bench{tb: &program{}, ctx: b.ctx, traffic: &traffic{}}
	defer own.close()
	own.open(store.Options{URL: server.URL()})
	members := map[string][]string{}
	var ids []string
	for _, r := range list {
		for _, id := range r.groups {
			if members[id] == nil {
				ids = append(ids, id)
			}
			members[id] = append(members[id], r.user)
		}
	}
	parallel(len(ids), 8, func(i int) error {
		_, err := own.service.CreateGroup(b.ctx, chat.Caller{User: "owner"}, chat.GroupDraft{ID: ids[i], Members: members[ids[i]]})
		return err
	})
}

// untilNoTasks waits until a node has done what the creation of groups leaves to tasks.
func untilNoTasks(b *bench, node *harness.Node) {
	op := must(client.New(node.URL(), client.StaticToken(harness.Token("op", "admin", time.Hour))))
	for {
		queues := must(op.Queues(b.ctx))
		busy := int64(0)
		for _, q := range queues {
			busy += q.Leased + q.ReadyAll()
		}
		if busy == 0 {
			return
		}
		ok(pause(b.ctx, 100*time.Millisecond))
	}
}

// closer ends a client.
type closer interface{ Close() error }

// holding has readers connect to a process and stay, and returns what each takes of it.
func holding(b *bench, pid int, addr string, list []reader, hold func(context.Context, string, reader) (closer, error)) cost {
	before := untilQuiet(b, pid)
	clients := make([]closer, len(list))
	defer func() {
		for _, c := range clients {
			if c != nil {
				_ = c.Close()
			}
		}
	}()
	parallel(len(list), 16, func(i int) (err error) {
		clients[i], err = hold(b.ctx, addr, list[i])
		return err
	})
	after := untilQuiet(b, pid)
	n := float64(len(list))
	return cost{(after.bytes - before.bytes) / n, (after.cpu - before.cpu) / time.Duration(n)}
}

// untilQuiet waits until a process needs less than a tenth of a processor, and returns what it has used.
func untilQuiet(b *bench, pid int) cost {
	const look = 500 * time.Millisecond
	for last := usedBy(pid); ; {
		ok(pause(b.ctx, look))
		now := usedBy(pid)
		if now.cpu-last.cpu < look/10 {
			return now
		}
		last = now
	}
}

// usedBy is what a process has in memory, and used of the processors so far.
func usedBy(pid int) (used cost) {
	status := must(os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)))
	for line := range strings.Lines(string(status)) {
		var kib float64
		if _, err := fmt.Sscanf(line, "VmRSS: %g kB", &kib); err == nil {
			used.bytes = kib * 1024
		}
	}
	stat := must(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)))
	_, rest, _ := strings.Cut(string(stat), ") ") // the name before it may hold blanks
	if fields := strings.Fields(rest); len(fields) > 12 {
		for _, field := range fields[11:13] { // utime and stime, see proc_pid_stat(5)
			used.cpu += time.Duration(must(strconv.ParseInt(field, 10, 64))) * time.Second / clockTicks
		}
	}
	return used
}

// holdWebsocket opens a websocket and returns once it is welcome. What the server says is read and dropped.
func holdWebsocket(ctx context.Context, addr string, r reader) (closer, error) {
	dialer := websocket.Dialer{Subprotocols: []string{subprotocol}, ReadBufferSize: 512, WriteBufferSize: 512}
	header := http.Header{"Authorization": {"Bearer " + tokenOf(r.user)}}
	c, res, err := dialer.DialContext(ctx, "ws://"+addr+"/v1/ws", header)
	if err != nil {
		return nil, err
	}
	_ = res.Body.Close()
	hello, err := json.Marshal(map[string]any{"op": "hello", "after": r.after(), "inbox_after": len(r.groups)})
	if err != nil {
		return nil, err
	}
	if err := c.WriteMessage(websocket.TextMessage, hello); err != nil {
		return nil, err
	}
	_, frame, err := c.ReadMessage()
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(frame, []byte(welcomeFrame)) {
		return nil, fmt.Errorf("the hello is answered with %s", frame)
	}
	go func() {
		for {
			if _, _, err := c.NextReader(); err != nil { // answers pings, too
				return
			}
		}
	}()
	return c, nil
}

// holdPoll asks for what comes next. There is nothing, so no answer comes meanwhile.
func holdPoll(ctx context.Context, addr string, r reader) (closer, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(map[string]any{"after": r.after(), "inbox_after": len(r.groups), "wait_s": 60})
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(c, "POST /v1/sync HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", addr, tokenOf(r.user), len(body), body)
	return c, err
}

// after is the position of a reader that has everything.
func (r reader) after() map[string]int64 {
	at := map[string]int64{}
	for _, id := range r.groups {
		at[id] = r.last
	}
	return at
}
