package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// What the section about hooks asks with: a little in many groups, and beside it what a hook is asked about, more at once than
// a node asks it.
const (
	hookGroups    = 20
	hookPerSecond = 200 // to all of them
	hookAsked     = 200 // a second, beside it
	hookTimeoutMs = 2000
	hookRounds    = 7
	hookTime      = 3 * time.Second
	hookSettle    = time.Second
)

// hookTroubles are what a hook can do wrong.
var hookTroubles = []struct {
	what   string
	answer http.HandlerFunc
}{
	{"hangs", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
	{"answers garbage", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"action":`) }},
	{"dies over each question", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }}, //nolint:forbidigo // how a handler ends a connection
	{"answers half a second too late", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After((hookTimeoutMs + 500) * time.Millisecond):
			w.WriteHeader(http.StatusNoContent)
		case <-r.Context().Done():
		}
	}},
}

// hooks measures what the hook of one group costs sends in others.
func hooks(b *bench) { fresh(b, (*bench).hooked) }

func (b *bench) hooked() {
	rounds := scaled(hookRounds)
	b.table.section(fmt.Sprintf("a hook in trouble: %d sends a second to %d groups, and %d to the group of the hook, on %d processors for all; the lowest and the highest of %d rounds",
		hookPerSecond, hookGroups, hookAsked, runtime.NumCPU(), rounds))
	ok(b.group("asked", 3))
	address := b.serve(true)
	at := must(url.Parse(address))
	var others []string
	for i := range hookGroups {
		id := fmt.Sprintf("other-%d", i)
		must(b.service.CreateGroup(b.ctx, chat.Caller{User: fmt.Sprint("user-", i)}, chat.GroupDraft{ID: id}))
		others = append(others, sendTo(at.Host, fmt.Sprint("user-", i), id))
	}
	root := must(client.New(address, client.StaticToken(harness.Token("root", "admin", time.Hour))))
	quiet := load{Addr: at.Host, Requests: others, Connections: hookGroups, PerSecond: hookPerSecond, Settle: shorter(hookSettle), For: shorter(hookSettle) + shorter(hookTime)}
	asked := load{Addr: at.Host, Requests: []string{sendTo(at.Host, "user-0", "asked")}, Connections: 200, PerSecond: hookAsked, Settle: quiet.Settle, For: quiet.For}
	var plain, warm overloadLoad
	ok(warm.measure(b, quiet))
	troubled, besides := make([]overloadLoad, len(hookTroubles)), make([]loaded, len(hookTroubles))
	for range rounds {
		must(b.beside(&plain, quiet, asked))
		for i, trouble := range hookTroubles {
			done, err := b.inTrouble(root, trouble.answer, &troubled[i], quiet, asked)
			ok(err)
			besides[i].Served, besides[i].Refused = append(besides[i].Served, done.Served...), append(besides[i].Refused, done.Refused...)
		}
	}
	b.table.add(row{"without a hook: p99 of sends to other groups", spanned("%.1f", plain.p99s) + " ms", "", ""})
	for i, trouble := range hookTroubles {
		own := &troubled[i]
		b.table.add(row{"one that " + trouble.what, spanned("%.1f", own.p99s) + " ms", byRound(own.p99s, plain.p99s), "without a hook"})
		b.table.count("  refused to other groups, and of those that it is asked about", "%d, %d of %d", len(own.refused)+own.unsent, len(besides[i].Refused),
			len(besides[i].Served)+len(besides[i].Refused))
	}
}

// sendTo is a request that sends 200 bytes to a group.
func sendTo(host, user, group string) string {
	body := `{"body":"` + strings.Repeat("x", 200) + `"}`
	return fmt.Sprintf("POST /v1/groups/%s/messages HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", group, host, tokenOf(user), len(body), body)
}

// beside adds to own what came of quiet, while beside does its own at the same time.
func (b *bench) beside(own *overloadLoad, quiet, beside load) (done loaded, err error) {
	var failed error
	var running sync.WaitGroup
	running.Go(func() { done, failed = beside.run(b.ctx) })
	err = own.measure(b, quiet)
	running.Wait()
	return done, errors.Join(err, failed)
}

// inTrouble does that with a hook that does something wrong.
func (b *bench) inTrouble(root *client.Client, answer http.HandlerFunc, own *overloadLoad, quiet, asked load) (loaded, error) {
	ctx, end := context.WithCancel(b.ctx)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		answer(w, r.WithContext(ctx))
	}))
	defer server.Close()
	defer end() // what hangs lets go, before the server waits for it
	hook, err := root.CreateHook(b.ctx, client.HookDraft{URL: server.URL, Groups: []string{"asked"},
		TimeoutMS: hookTimeoutMs, OnError: "refuse"})
	if err != nil {
		return loaded{}, err
	}
	done, err := b.beside(own, quiet, asked)
	return done, errors.Join(err, root.DropHook(b.ctx, hook.ID))
}
