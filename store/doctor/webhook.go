package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/script"
)

// partitionNames are keys of a partition; the key set is their common prefix.
var partitionNames = names(func(part string) string { return part }, nil)

var (
	webhooksScript    = newReader("webhooks", partitionNames)
	fixWebhooksScript = newScript("fix_webhooks", partitionNames)
	fixWantsScript    = newScript("fix_wants", partitionNames)
)

// webhooks examines the list of webhooks and what is derived from it.
type webhooks struct {
	*exam
	tasks *taskList
}

// webhooks examines the list of webhooks: whether each can be read, and whether data derived from the list agrees with
// it.
func (d *webhooks) webhooks(ctx context.Context) error {
	part := d.keys.part(0)
	r, err := d.run.do(ctx, webhooksScript.On(part))
	if err != nil {
		return err
	}
	ids, used := map[string]bool{}, int64(0)
	for pair := range slices.Chunk(r.Texts(0), 2) {
		id, value := pair[0], pair[1]
		ids[id] = true
		if strings.HasPrefix(value, "1 ") {
			used++
		}
		if wrong := webhookWrong(value); wrong != "" {
			if err := d.found(ctx, Finding{Kind: KindWebhook, Key: part + "webhooks", Message: fmt.Sprintf("holds webhook %s, which %s", id, wrong)}); err != nil {
				return err
			}
		}
	}
	f := Finding{Kind: KindWebhook, Key: part + "webhooks:state", Repair: "recount the webhooks in use, and drop the state of those that are gone",
		fix: func(ctx context.Context) error {
			if _, err := d.run.do(ctx, fixWebhooksScript.On(part)); err != nil {
				return err
			}
			return d.store.SpreadWebhooks(ctx)
		}}
	generation := r.Number(2)
	switch {
	case r.Number(1) != used:
		f.Message = fmt.Sprintf("counts %d webhooks in use, but there are %d", r.Number(1), used)
	case (generation == 0) != (used == 0):
		f.Message = fmt.Sprintf("has the generation %d with %d webhooks in use", generation, used)
	case !slices.ContainsFunc(r.Texts(4), func(id string) bool { return !ids[id] }):
		return nil
	default:
		f.Key, f.Message = part+"webhooks:health", "records attempts for webhooks that are gone"
	}
	return d.found(ctx, f)
}

// webhookWrong says what is wrong with a stored webhook. It reveals nothing of the value, which is a secret.
func webhookWrong(value string) string {
	parts := strings.SplitN(value, " ", 3)
	var w webhook.Webhook
	switch {
	case len(parts) < 3 || parts[0] != "0" && parts[0] != "1" || script.Number(parts[1]) < 1 || json.Unmarshal([]byte(parts[2]), &w) != nil:
		return "cannot be read"
	case w.URL == "" || len(w.Secrets) == 0:
		return "has no URL or no secret"
	case (parts[0] == "1") != (w.DisabledAt == nil):
		return "is marked both in use and disabled, or neither"
	}
	return ""
}

// wants compares a partition's copy of the state of webhooks with the list: an outdated one is a finding if no task is
// waiting to update it.
func (d *webhooks) wants(ctx context.Context, k key) error {
	generation := "0"
	for range suspectTries {
		copied, err := d.store.Client().HMGet(ctx, k.name, "events", "webhooks").Result()
		if err != nil {
			return err
		}
		state, err := d.store.Client().HMGet(ctx, d.keys.part(0)+"webhooks:state", "generation", "version").Result()
		if err != nil {
			return err
		}
		have, want := script.Reply(copied), script.Reply(state)
		events := ""
		if want.Number(0) > 0 {
			generation = want.Text(0)
			events = generation + " " + want.Text(1)
		}
		if have.Number(1) == want.Number(1) && have.Text(0) == events {
			return nil
		}
		waits, known, err := d.tasks.waiting(ctx, func(info queue.Info) bool { return info.Kind == webhook.TaskSpread })
		if err != nil || waits || !known {
			return err
		}
	}
	return d.found(ctx, Finding{Kind: KindWebhook, Key: k.name, Message: "holds an outdated copy of the state of the webhooks",
		Repair: "copy the state again", fix: func(ctx context.Context) error {
			if _, err := d.run.do(ctx, fixWantsScript.On(d.keys.part(k.Partition)).Arg("generation", generation)); err != nil {
				return err
			}
			return d.store.SpreadWebhooks(ctx)
		}})
}
