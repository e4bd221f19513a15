package e2e

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/writing"
)

var streamKills = flag.Int("stream-kills", 3, "how often TestStreamsUnderKills kills a node; `make soak` kills more")

// TestStreamsUnderKills has messages written piece by piece at two nodes, of which one is killed meanwhile, again and again: in the end
// each is whole, and there is one entry that says so.
func TestStreamsUnderKills(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, 2*time.Minute+time.Duration(*streamKills)*20*time.Second)
	nodes, dice := twoNodes(t), random(t)
	bot := nodes[0].Client("bot", patient())
	must(bot.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"ann"}, Keep: new(int64(100_000))}))(t)
	const writers = 4
	texts := map[int64]string{}
	for kill := range *streamKills {
		var mu sync.Mutex
		var begun, done sync.WaitGroup
		errs := make([]error, writers)
		begun.Add(writers)
		for i := range writers {
			at := nodes[i%2].Client("bot", patient())
			done.Go(func() {
				id, text, err := writesAll(ctx, at, fmt.Sprintf("answer %d %d: ", kill, i), begun.Done)
				errs[i] = err
				mu.Lock()
				texts[id] = text
				mu.Unlock()
			})
		}
		begun.Wait()
		dead := nodes[dice.IntN(2)]
		dead.Kill()
		dead.Start()
		done.Wait()
		if err := cmp.Or(errs...); err != nil {
			t.Fatalf("kill %d: %v", kill, err)
		}
	}
	ends := map[int64]int{}
	ann, after := nodes[0].Client("ann", patient()), client.Position("0")
	for more := true; more; {
		page := must(ann.Messages(ctx, "g", client.Range{After: after, Limit: 100}))(t)
		for _, m := range page.Messages {
			if text, ours := texts[m.ID]; ours && (m.Body != text || m.Stream != "") {
				t.Errorf("message %d is %q (%q), and not %q", m.ID, m.Body, m.Stream, text)
			}
			if m.Kind == client.KindEdit {
				ends[m.Target]++
			}
		}
		after, more = page.Cursor, page.HasMore
	}
	for id := range texts {
		if ends[id] != 1 {
			t.Errorf("message %d has %d ends", id, ends[id])
		}
	}
}

// writesAll writes a message in many pieces. began is called once some of it has gone out.
func writesAll(ctx context.Context, at *client.Client, first string, began func()) (id int64, text string, err error) {
	w, err := writing.Open(ctx, at, "g", client.Draft{Body: first})
	if err != nil {
		began()
		return 0, "", err
	}
	text = first
	for i := range 40 {
		piece := strings.Repeat(fmt.Sprintf("wörd%d ", i), 3)
		text += piece
		if _, err := io.WriteString(w, piece); err != nil {
			return w.Message.ID, text, err
		}
		if i == 20 {
			began()
		}
		// What the writer sends at once is a piece: the next words come when it has gone out.
		if err := w.Flush(); err != nil {
			return w.Message.ID, text, err
		}
	}
	return w.Message.ID, text, w.Close()
}
