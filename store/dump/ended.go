package dump

import (
	"context"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/store/layout"
)

// withoutEnded takes out of values of a key what authors wrote in messages whose time has come. The messages stay: what counts them
// goes on in the other store, and so does the task that deletes them.
func (e *exporter) withoutEnded(ctx context.Context, p part, values []text) error {
	key, _ := layout.Find(p.Partition, p.Key)
	switch key.Holds {
	case "entry", "pinned":
		for n := 1; n < len(values); n += 2 { // of a zset the member, of a hash the value
			values[n] = e.emptied(values[n], chat.Emptied)
		}
	case "item":
		for n := range values {
			values[n] = e.emptied(values[n], func(item []byte, nowMs int64) []byte { return chat.StoredItem{JSON: item}.Live(nowMs).JSON })
		}
	case "streamed":
		return e.withoutEndedPieces(ctx, p, values)
	}
	return nil
}

// emptied is a stored entry or item, of which the JSON follows other words, without the content of what had to go.
func (e *exporter) emptied(stored text, without func([]byte, int64) []byte) text {
	json := strings.IndexByte(string(stored), '{')
	if json < 0 || !chat.Gone([]byte(stored), e.nowMs) {
		return stored
	}
	return stored[:json] + text(without([]byte(stored[json:]), e.nowMs))
}

// withoutEndedPieces has blanks stand for pieces of messages that are still being written and had to go: their records say how long
// they are.
func (e *exporter) withoutEndedPieces(ctx context.Context, p part, values []text) error {
	if len(values) == 0 {
		return nil
	}
	ids := make([]string, 0, len(values)/2)
	for n := 0; n < len(values); n += 2 {
		ids = append(ids, head(string(values[n])))
	}
	p.Key = strings.TrimSuffix(p.Key, "streamed") + "expires"
	ends, err := e.client.ZMScore(ctx, e.name(p), ids...).Result()
	if err != nil {
		return err
	}
	for n, end := range ends {
		if end > 0 && int64(end) <= e.nowMs {
			values[2*n+1] = text(strings.Repeat(" ", len(values[2*n+1])))
		}
	}
	return nil
}
