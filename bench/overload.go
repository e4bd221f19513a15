package main

import (
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/web/auth"
)

// What the overload section asks with. Few users for many connections: what is measured is no limit of one user, and the
// pair asks for less than its share.
const (
	overloadUsers       = 16
	overloadConnections = 800
	overloadGroups      = 20
	overloadFactor      = 5
)

// overload asks a whole node for five times what it can do: how much of that is done, how soon, and what a pair that asks
// for little notices. The node is in this process. The load comes from processes of its own, but from the same processors,
// and so does Redis: the table says what each of them used.
func overload(b *bench) error { return b.fresh((*bench).overloads) }

func (b *bench) overloads() error {
	b.table.section(fmt.Sprintf("overload: syncs over %d groups through HTTP, on %d processors for all", overloadGroups, runtime.NumCPU()))
	host, requests, err := b.overloaded()
	if err != nil {
		return err
	}
	heavy, pair := requests[:overloadUsers], requests[overloadUsers:]
	took, settle := shorter(10*time.Second), shorter(4*time.Second)
	peak, err := b.load("", load{Addr: host, Requests: heavy, Connections: 64, For: took})
	if err != nil {
		return err
	}
	if len(peak.Served) == 0 {
		return errors.New("nothing was served")
	}
	most := float64(len(peak.Served)) / took.Seconds()
	b.table.rate("the peak, 64 connections", most, most, "")
	below, err := b.load("at 80 % of it", load{Addr: host, Requests: heavy, Connections: overloadConnections, PerSecond: 0.8 * most, For: took})
	if err != nil {
		return err
	}
	b.table.spread("at 80 % of it", below.Served)

	var little loaded
	var failed error
	var watching sync.WaitGroup
	watching.Go(func() {
		little, failed = load{Addr: host, Requests: pair, Connections: len(pair), PerSecond: 20, Settle: settle, For: settle + took}.run(b.ctx)
	})
	above, err := b.load("overloaded", load{Addr: host, Requests: heavy, Connections: overloadConnections, PerSecond: overloadFactor * most, Settle: settle, For: settle + took})
	watching.Wait()
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	b.table.rate("asked for", float64(len(above.Served)+len(above.Refused)+above.Unsent)/took.Seconds(), most, "the peak")
	b.table.rate("served of it", float64(len(above.Served))/took.Seconds(), most, "the peak")
	b.table.spread("served, once the burst before it was", above.Served)
	b.table.spread("served of the burst", above.Early)
	b.table.spread("refused", above.Refused)
	b.table.spread(fmt.Sprintf("a pair with 20 calls a second, %d refused", len(little.Refused)), little.Served)
	return nil
}

// overloaded makes users with groups, and a node. It returns the address of the node, and a request of each user.
func (b *bench) overloaded() (host string, requests []string, err error) {
	users := make([]string, overloadUsers+2)
	for i := range users {
		users[i] = fmt.Sprintf("user-%d", i)
	}
	for i := range overloadGroups {
		draft := chat.GroupDraft{ID: fmt.Sprintf("over-%d", i), Members: users}
		if _, err := b.service.CreateGroup(b.ctx, chat.Caller{User: "owner"}, draft); err != nil {
			return "", nil, err
		}
		if err := b.send(draft.ID); err != nil {
			return "", nil, err
		}
	}
	base, err := b.serve("")
	if err != nil {
		return "", nil, err
	}
	at, err := url.Parse(base)
	if err != nil {
		return "", nil, err
	}
	const body = `{"limit":20}`
	for _, user := range users {
		token, _, err := auth.SignToken([]byte(secret), auth.Claims{User: user, TTL: time.Hour}, time.Now())
		if err != nil {
			return "", nil, err
		}
		requests = append(requests, fmt.Sprintf("POST /v1/sync HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
			"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", at.Host, token, len(body), body))
	}
	return at.Host, requests, nil
}

// load runs l and, where it has a name, notes which share of the processors everybody used meanwhile.
func (b *bench) load(name string, l load) (loaded, error) {
	node, err := cpuUsed()
	if err != nil {
		return loaded{}, err
	}
	redis := redisCPU(b.redis)
	done, err := l.run(b.ctx)
	if err != nil {
		return done, err
	}
	after, err := cpuUsed()
	if err != nil {
		return done, err
	}
	if name != "" {
		share := func(used time.Duration) float64 { return used.Seconds() / l.For.Seconds() / float64(runtime.NumCPU()) }
		b.table.count("  of the processors "+name, "node %.2f, redis-server %.2f, load %.2f",
			share(after-node), share(redisCPU(b.redis)-redis), share(done.CPU))
	}
	return done, nil
}

// redisCPU is what a redis-server has used of the processors so far.
func redisCPU(server *redistest.Server) time.Duration {
	info, _ := server.Do("INFO", "cpu").(string)
	var used float64
	for _, name := range []string{"used_cpu_sys", "used_cpu_user"} {
		_, rest, _ := strings.Cut(info, "\n"+name+":")
		text, _, _ := strings.Cut(rest, "\r")
		seconds, _ := strconv.ParseFloat(text, 64) // 0 shows in the table
		used += seconds
	}
	return time.Duration(used * float64(time.Second))
}
