package web

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
)

// BenchmarkPage writes a page of 50 stored messages: as they are stored, and as they would have to be made of a shorter form.
func BenchmarkPage(b *testing.B) {
	b.Run("as stored", func(b *testing.B) {
		benchmarkPage(b, func(id int64) []byte {
			return fmt.Appendf(nil, `{"id":%d,"group":"general","from":"alice","kind":"text","body":"a message of usual length, as people write them","sent_at":"2026-11-20T10:00:00.000Z"}`, id)
		}, func(_ int64, stored []byte) []byte { return stored })
	})
	b.Run("expanded", func(b *testing.B) {
		from, epoch := []string{"", "alice"}, time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC).UnixMilli()
		benchmarkPage(b, func(int64) []byte {
			return []byte(`1 36000000 t "body":"a message of usual length, as people write them"`)
		}, func(id int64, stored []byte) []byte { return expand(id, "general", from, epoch, stored) })
	})
}

func benchmarkPage(b *testing.B, store func(id int64) []byte, serve func(id int64, stored []byte) []byte) {
	batch := chat.Batch{Group: "general", Epoch: "9f2c", From: 1, To: 50, First: 1, Last: 50, Cursor: "9f2c.50.k3abcd", Complete: true, Messages: make([]chat.Message, 50)}
	stored := make([][]byte, len(batch.Messages))
	for i := range stored {
		stored[i] = store(int64(i + 1))
	}
	w := httptest.NewRecorder()
	b.ReportAllocs()
	for b.Loop() {
		for i := range stored {
			batch.Messages[i] = chat.Message{ID: int64(i + 1), JSON: serve(int64(i+1), stored[i])}
		}
		w.Body.Reset()
		if err := (&pageAnswer{batch: batch}).VisitListMessagesResponse(w); err != nil {
			b.Fatal(err)
		}
	}
}

// expand makes the JSON of a message of a number for its sender, its time after epoch in ms, a letter for its kind, and the rest.
func expand(id int64, group string, from []string, epoch int64, stored []byte) []byte {
	sender, rest, _ := bytes.Cut(stored, []byte(" "))
	after, rest, _ := bytes.Cut(rest, []byte(" "))
	kind, rest, _ := bytes.Cut(rest, []byte(" "))
	n, _ := strconv.Atoi(string(sender))
	ms, _ := strconv.ParseInt(string(after), 10, 64)
	b := make([]byte, 0, len(rest)+len(group)+len(from[n])+96)
	b = strconv.AppendInt(append(b, `{"id":`...), id, 10)
	b = append(append(b, `,"group":"`...), group...)
	b = append(append(b, `","from":"`...), from[n]...)
	if b = append(b, `","kind":"`...); kind[0] == 't' {
		b = append(b, "text"...)
	}
	b = append(append(append(b, `",`...), rest...), `,"sent_at":"`...)
	return append(time.UnixMilli(epoch+ms).UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z"), `"}`...)
}
