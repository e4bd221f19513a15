package main

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
)

const (
	batchSends, batchGroups = 1000, 100
	batchCallers            = 8 // connections that send one by one
	batchRounds             = 20
)

// batches sends messages to many groups through a whole node: by calls of their own, and by one batch. Both have retry keys. The
// client, without a library, is in this process.
func batches(b *bench) { fresh(b, (*bench).batching) }

func (b *bench) batching() {
	rounds := scaled(batchRounds)
	b.table.section(fmt.Sprintf("%d sends of 200 bytes to %d groups through HTTP; the lowest and the highest of %d rounds", batchSends, batchGroups, rounds))
	url := b.serve(false)
	group := func(i int) string { return fmt.Sprintf("batch-%d", i%batchGroups) }
	for i := range batchGroups {
		must(b.service.CreateGroup(b.ctx, chat.Caller{User: "owner"}, chat.GroupDraft{ID: group(i), Members: []string{"reader"}}))
	}
	transport := &http.Transport{MaxIdleConnsPerHost: batchCallers}
	defer transport.CloseIdleConnections()
	caller, token := &http.Client{Transport: transport}, tokenOf("owner")
	post := func(path, key, text string, status int) error {
		req, err := http.NewRequestWithContext(b.ctx, http.MethodPost, url+path, bytes.NewReader([]byte(text)))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		if key != "" {
			req.Header.Set("Idempotency-Key", key)
		}
		return answered(caller, req, status)
	}
	alone := func(round int) {
		parallel(batchSends, batchCallers, func(i int) error {
			return post("/v1/groups/"+group(i)+"/messages", "", fmt.Sprintf(`{"body":%q,"client_id":"a-%d-%d"}`, *body, round, i), http.StatusCreated)
		})
	}
	ops := make([]string, batchSends)
	for i := range ops {
		ops[i] = fmt.Sprintf(`{"op":"send","group":%q,"body":%q}`, group(i), *body)
	}
	text := `{"ops":[` + strings.Join(ops, ",") + `]}`
	together := func(round int) { ok(post("/v1/batch", fmt.Sprint("b-", round), text, http.StatusOK)) }
	took := func(send func(int)) (times []float64, commands float64) {
		send(-1)
		before := b.redisCalls()
		for i := range rounds {
			began := time.Now()
			send(i)
			times = append(times, time.Since(began).Seconds()*1000)
		}
		return times, (b.redisCalls() - before) / float64(rounds)
	}
	one, oneCalls := took(alone)
	all, allCalls := took(together)
	b.table.add(row{fmt.Sprintf("by themselves, over %d connections", batchCallers), spanned("%.1f", one) + " ms", "", ""})
	b.table.count("  commands of Redis, those in scripts included", "%.0f", oneCalls)
	b.table.add(row{"in one batch", spanned("%.1f", all) + " ms", byRound(all, one), "by themselves; target 0.125"})
	b.table.count("  commands of Redis, those in scripts included", "%.0f", allCalls)
}

// redisCalls is how many commands the run's server has run.
func (b *bench) redisCalls() (n float64) {
	for _, s := range commandStats(b.redis) {
		n += s.calls
	}
	return n
}
