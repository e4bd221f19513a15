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
	// alone and together send to groups that a round has for itself, whose names begin alike.
	alone := func(group string) {
		parallel(batchSends, batchCallers, func(i int) error {
			text := fmt.Sprintf(`{"body":%q,"client_id":"%d"}`, *body, i)
			return post(fmt.Sprintf("/v1/groups/%s%d/messages", group, i%batchGroups), "", text, http.StatusCreated)
		})
	}
	together := func(group string) {
		ops := make([]string, batchSends)
		for i := range ops {
			ops[i] = fmt.Sprintf(`{"op":"send","group":"%s%d","body":%q}`, group, i%batchGroups, *body)
		}
		ok(post("/v1/batch", group, `{"ops":[`+strings.Join(ops, ",")+`]}`, http.StatusOK))
	}
	var one, all []float64
	var oneCalls, allCalls float64
	took := func(send func(string), group string, times *[]float64, commands *float64) {
		parallel(batchGroups, batchCallers, func(i int) error {
			_, err := b.service.CreateGroup(b.ctx, chat.Caller{User: "owner"}, chat.GroupDraft{ID: fmt.Sprint(group, i), Members: []string{"reader"}})
			return err
		})
		before, began := b.redisCalls(), time.Now()
		send(group)
		*times = append(*times, time.Since(began).Seconds()*1000)
		*commands += (b.redisCalls() - before) / float64(rounds)
	}
	for i := range rounds {
		took(alone, fmt.Sprintf("alone-%d-", i), &one, &oneCalls)
		took(together, fmt.Sprintf("together-%d-", i), &all, &allCalls)
	}
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
