package web

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
)

// pageOfThousand is a page of 1,000 messages of five people.
func pageOfThousand() *chat.Batch {
	random := rand.New(rand.NewPCG(1, 2))
	vocabulary := make([]string, 2000)
	for i := range vocabulary {
		word := make([]byte, 2+random.IntN(9))
		for j := range word {
			word[j] = "etaoinshrdlucmfwypvbgkjqxz"[min(random.IntN(26), random.IntN(26))]
		}
		vocabulary[i] = string(word)
	}
	b := &chat.Batch{Group: "g", Epoch: "5FZQ2MR7JX", From: 1, To: 1000, First: 1, Last: 1000, Cursor: "5FZQ2MR7JX.1000.kq3", Complete: true}
	for i := range 1000 {
		var body []string
		for range 5 + random.IntN(15) {
			body = append(body, vocabulary[min(random.IntN(2000), random.IntN(2000))])
		}
		b.Messages = append(b.Messages, chat.Message{ID: int64(i + 1), JSON: fmt.Appendf(nil,
			`{"id":%d,"group":"g","from":"person-%d","kind":"text","sent_at":"2026-11-29T10:%02d:%02d.%03dZ","body":%q}`,
			i+1, random.IntN(5), i/60%60, i%60, random.IntN(1000), strings.Join(body, " "))})
	}
	return b
}

// BenchmarkCompressedPage is what it takes to write a page of 1,000 messages, and how many bytes it has then.
func BenchmarkCompressedPage(b *testing.B) {
	page, e := pageOfThousand(), echo.New()
	for _, accept := range []string{"identity", "gzip"} {
		b.Run(accept, func(b *testing.B) {
			b.ReportAllocs()
			size := 0
			for b.Loop() {
				r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/", nil)
				r.Header.Set("Accept-Encoding", accept)
				w := httptest.NewRecorder()
				err := compressAnswers(func(c echo.Context) error {
					return writeBuffered(c.Response(), http.StatusOK, answerBytes+sizeOf(page.Messages), func(buf *bytes.Buffer) {
						writeBatch(buf, page, nil, fieldsOf{}, false)
					})
				})(e.NewContext(r, w))
				if err != nil {
					b.Fatal(err)
				}
				size = w.Body.Len()
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
}
