package web

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/chatd/chatd/chat"
)

// BenchmarkPage writes a page of 50 stored messages.
func BenchmarkPage(b *testing.B) {
	batch := chat.Batch{Group: "general", Epoch: "9f2c", From: 1, To: 50, First: 1, Last: 50, Cursor: "9f2c.50.k3abcd", Complete: true}
	for id := range int64(50) {
		json := fmt.Sprintf(`{"id":%d,"group":"general","from":"alice","kind":"text","body":"a message of usual length, as people write them","sent_at":"2026-11-20T10:00:00.000Z"}`, id+1)
		batch.Messages = append(batch.Messages, chat.Message{ID: id + 1, JSON: []byte(json)})
	}
	w := httptest.NewRecorder()
	b.ReportAllocs()
	for b.Loop() {
		w.Body.Reset()
		if err := (&pageAnswer{batch: batch}).VisitListMessagesResponse(w); err != nil {
			b.Fatal(err)
		}
	}
}
