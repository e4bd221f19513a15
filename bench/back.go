package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
)

// back measures members of a group who were away for some time and come back at once, by websocket, each from the cursor where
// they were: what they cost Redis and the node beyond those who have missed nothing.
func back(b *bench) {
	members := scaled(200)
	b.table.section(fmt.Sprintf("%d members of a group come back at once: Redis commands, processor time of the node, and time until all have everything", members))
	b.build()
	for _, archive := range []string{"off", "sqlite"}[:min(2, scaled(40))] {
		idle := comeBack(b, archive, members, 0)
		b.table.count("nothing missed, archive "+archive, "%s", idle)
		for _, missed := range []int{20, 300, 3000}[:min(3, scaled(60))] {
			got := comeBack(b, archive, members, missed)
			b.table.count(fmt.Sprintf("%d missed, archive %s", missed, archive), "%s; %.1f commands more than with nothing missed", got, got.commands-idle.commands)
		}
	}
}

// returned is what one member who came back has cost.
type returned struct {
	commands float64
	cpu      time.Duration
	all      time.Duration // until all had everything
}

func (r returned) String() string {
	return fmt.Sprintf("%.1f commands, %d us, all within %d ms", r.commands, r.cpu.Microseconds(), r.all.Milliseconds())
}

// comeBack has the members of a new group come back. With an archive the store has kept only the newest 100 of the messages.
func comeBack(b *bench, archive string, members, missed int) returned {
	server := redistest.Start(b.tb)
	defer server.Kill()
	env := map[string]string{"CHATD_ARCHIVE": archive, "CHATD_MAX_CONNS_IP": "off", "CHATD_RATE_USER": "off", "CHATD_RATE_IP": "off"}
	if archive == "sqlite" {
		env["CHATD_ARCHIVE"] = "sqlite:" + must(os.MkdirTemp(b.tb.TempDir(), "back")) + "/archive.db"
	}
	node := harness.StartNode(b.tb, harness.Config{Redis: server.URL(), Env: env})
	defer node.Kill()
	users, last := beforeTheyCome(b, server, members, missed, archive != "off")
	untilNoTasks(b, node)
	server.Do("CONFIG", "RESETSTAT")
	before, began := untilQuiet(b, node.Pid()), time.Now()
	commands := func() (n float64) {
		for _, calls := range server.Calls() {
			n += float64(calls)
		}
		return n
	}
	idle := commands()
	clients := make([]*websocket.Conn, len(users))
	var wg sync.WaitGroup
	errs := make([]error, len(users))
	for i, user := range users {
		wg.Go(func() { clients[i], errs[i] = catchUp(b.ctx, node.Addr, user, last-int64(missed), last) })
	}
	wg.Wait()
	took := time.Since(began)
	n := float64(len(users))
	got := returned{commands: (commands() - idle) / n, cpu: (usedBy(node.Pid()).cpu - before.cpu) / time.Duration(n), all: took}
	for i, c := range clients {
		ok(errs[i])
		_ = c.Close()
	}
	return got
}

// beforeTheyCome makes the group, and sends what they miss. With an archive all have seen it on another device, so that the store
// need not keep it.
func beforeTheyCome(b *bench, server *redistest.Server, members, missed int, archived bool) (users []string, last int64) {
	own := &bench{tb: &program{}, ctx: b.ctx, traffic: &traffic{}}
	defer own.close()
	own.open(store.Options{URL: server.URL()})
	for i := range members {
		users = append(users, fmt.Sprint("back-", i))
	}
	_, err := own.service.CreateGroup(b.ctx, chat.Caller{User: "owner"}, chat.GroupDraft{ID: "back", Members: users})
	ok(err)
	ok(own.send("back"))
	parallel(missed, 32, func(int) error { return own.send("back") })
	batch, _, err := own.service.Pull(b.ctx, chat.Caller{User: "owner"}, "back", chat.PullQuery{Limit: 1})
	ok(err)
	if last = batch.Last; archived {
		parallel(members, 16, func(i int) error {
			_, err := own.service.Ack(b.ctx, chat.Caller{User: users[i]}, "back", chat.At(last))
			return err
		})
	}
	return users, last
}

// catchUp opens a websocket and reads until it has the message at last.
func catchUp(ctx context.Context, addr, user string, at, last int64) (*websocket.Conn, error) {
	header := http.Header{"Authorization": {"Bearer " + tokenOf(user)}}
	dialer := websocket.Dialer{Subprotocols: []string{subprotocol}, ReadBufferSize: 4 << 10, WriteBufferSize: 512}
	c, res, err := dialer.DialContext(ctx, "ws://"+addr+"/v1/ws", header)
	if err != nil {
		return nil, err
	}
	_ = res.Body.Close()
	if err := c.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"op":"hello","after":{"back":%d}}`, at)); err != nil {
		return nil, err
	}
	for welcome := false; at < last || !welcome; {
		_, frame, err := c.ReadMessage()
		if err != nil {
			return nil, err
		}
		var f struct {
			Op       string
			From, To int64
			Complete bool
		}
		if err := json.Unmarshal(frame, &f); err != nil {
			return nil, err
		}
		switch {
		case f.Op != "messages":
			welcome = welcome || f.Op == "welcome"
		case f.From != at+1 || !f.Complete:
			return nil, fmt.Errorf("%s got messages from %d after %d", user, f.From, at)
		default:
			at = f.To
		}
	}
	return c, nil
}
