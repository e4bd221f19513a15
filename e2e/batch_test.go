package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// What a batch has that is cut. Messages that mention somebody are sent one by one, so that there is a middle.
const cutMentions, cutPlain, cutGroups, cutOthers = 900, 60, 6, 10

// TestBatchCutAndRepeated cuts batches in their middle and repeats them with the same key: what was stored before has the ids that the
// repeat gives, the rest is done, and nothing is there twice.
func TestBatchCutAndRepeated(t *testing.T) {
	t.Parallel()
	storesWith(t, harness.Config{Env: map[string]string{"CHATD_RATE_USER": "off", "CHATD_RATE_SEND": "off"}}, func(t *testing.T, node *harness.Node) {
		for _, one := range []struct {
			how string
			cut func(hangUp context.CancelFunc)
		}{
			{"the client hangs up", func(hangUp context.CancelFunc) { hangUp() }},
			{"the node is killed", func(hangUp context.CancelFunc) { node.Kill(); hangUp(); node.Start() }},
		} {
			t.Run(one.how, func(t *testing.T) {
				ctx := bounded(t, time.Minute)
				for round := 0; !cutBatch(ctx, t, node, fmt.Sprintf("%s%d", one.how[4:8], round), one.cut); round++ {
					t.Log("the batch was done before it was cut")
				}
			})
		}
	})
}

// cutBatch cuts a batch to groups whose names begin with name, and repeats it. It returns false if the batch was done before.
func cutBatch(ctx context.Context, t *testing.T, node *harness.Node, name string, cut func(context.CancelFunc)) bool {
	t.Helper()
	alice, keep := node.Client("alice", patient()), int64(10_000)
	slow := name + "-slow"
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: slow, Members: []string{"bob"}, Keep: &keep}))(t)
	ops := make([]client.Op, 0, cutMentions+cutPlain+2*cutOthers)
	for i := range cutGroups {
		must(alice.CreateGroup(ctx, client.GroupDraft{ID: fmt.Sprint(name, i), Keep: &keep}))(t)
	}
	for i := range cutMentions {
		ops = append(ops, client.Op{"op": "send", "group": slow, "body": fmt.Sprint("m", i), "mentions": []string{"bob"}})
	}
	for i := range cutPlain {
		ops = append(ops, client.Op{"op": "send", "group": fmt.Sprint(name, i%cutGroups), "body": fmt.Sprint("p", i)})
	}
	for i := range cutOthers {
		ops = append(ops, client.Op{"op": "create_group", "name": fmt.Sprint(name, " ", i)}, client.Op{"op": "direct", "user": "carol", "body": fmt.Sprint(name, " ", i)})
	}

	cutting, hangUp := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = node.Client("alice").Batch(cutting, name, ops) // it is cut
	}()
	for must(alice.Group(ctx, slow))(t).Last < cutMentions/20 {
	}
	cut(hangUp)
	<-ended

	before := bodiesOf(ctx, t, alice, slow)
	first := must(alice.Batch(ctx, name, ops))(t)
	again := must(alice.Batch(ctx, name, ops))(t)
	after := bodiesOf(ctx, t, alice, slow)
	for i := range cutGroups {
		for body, ids := range bodiesOf(ctx, t, alice, fmt.Sprint(name, i)) {
			after[body] = ids
		}
	}
	if len(after) != cutMentions+cutPlain {
		t.Errorf("%d messages are stored, want %d", len(after), cutMentions+cutPlain)
	}
	for i, op := range ops {
		body, _ := op["body"].(string)
		id := idOf(t, first[i])
		if id == "" || id != idOf(t, again[i]) {
			t.Errorf("op %d: %s, then %s", i, first[i].Raw, again[i].Raw)
		}
		if ids := before[body]; len(ids) > 0 && (len(ids) > 1 || ids[0] != id) {
			t.Errorf("op %d has the ids %v before the batch is repeated, %s then", i, ids, id)
		}
		if ids := after[body]; op["op"] == "send" && (len(ids) != 1 || ids[0] != id) {
			t.Errorf("op %d has the ids %v in the log, %s in the answer", i, ids, id)
		}
	}
	created := map[string]int{}
	for _, g := range must(alice.Groups(ctx, client.Page{}))(t).Groups {
		created[g.Name]++
	}
	inbox := map[string]int{}
	for _, it := range must(node.Client("carol", patient()).Inbox(ctx, nil, 0))(t).Items {
		inbox[it.Body]++
	}
	for i := range cutOthers {
		if what := fmt.Sprint(name, " ", i); created[what] != 1 || inbox[what] != 1 {
			t.Errorf("%s: %d groups, %d direct messages", what, created[what], inbox[what])
		}
	}
	t.Logf("%d of %d messages to a group were stored when the batch was cut", len(before), cutMentions)
	return len(before) < cutMentions
}

// idOf is the id of what an op made, or its place in an inbox; empty if it was refused.
func idOf(t *testing.T, r client.OpResult) string {
	t.Helper()
	var made struct {
		ID  json.RawMessage
		Seq int64
	}
	try(t, json.Unmarshal(r.Raw, &made))
	if r.Status/100 != 2 {
		return ""
	}
	return fmt.Sprintf("%s %d", made.ID, made.Seq)
}

// bodiesOf are the ids, as idOf has them, of the messages of a group by their bodies.
func bodiesOf(ctx context.Context, t *testing.T, c *client.Client, group string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for after := int64(0); ; {
		batch := must(c.Messages(ctx, group, client.Range{After: client.At(after), Limit: 1000}))(t)
		for _, m := range batch.Messages {
			if m.Kind == "text" {
				found[m.Body] = append(found[m.Body], fmt.Sprint(m.ID, " ", 0))
			}
			after = m.ID
		}
		if len(batch.Messages) == 0 {
			return found
		}
	}
}
