package local

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/chatd/chatd/client"
)

// TestCloseLeavesNothingBehind closes a chat in the middle of everything that it does: of a first call that is not answered.
func TestCloseLeavesNothingBehind(t *testing.T) {
	before := goleak.IgnoreCurrent()
	reached := make(chan struct{}, 100)
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		reached <- struct{}{}
		<-r.Context().Done()
	}))
	own := &http.Client{Transport: &http.Transport{}}
	c, err := client.New(web.URL, client.StaticToken("t"), client.WithHTTPClient(own))
	if err != nil {
		t.Fatal(err)
	}
	chat, err := Open(t.Context(), c, Options{User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	tl, err := chat.Timeline(t.Context(), "g", At{})
	if err != nil {
		t.Fatal(err)
	}
	sending, err := chat.Send(t.Context(), "g", client.Text("x"))
	if err != nil {
		t.Fatal(err)
	}
	<-reached
	chat.Close()
	if _, err := sending.Wait(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("a message that waits: got %v", err)
	}
	for range tl.Changed() { // ends, because it is closed
	}
	if _, err := chat.Send(t.Context(), "g", client.Text("y")); !errors.Is(err, ErrClosed) {
		t.Errorf("a send after the end: got %v", err)
	}
	if got := chat.State().Phase; got != PhaseClosed {
		t.Errorf("got %s", got)
	}
	web.CloseClientConnections()
	web.Close()
	own.CloseIdleConnections()
	goleak.VerifyNone(t, before)
}

// openChat opens a chat of ann with a server that may be away, and an empty store.
func openChat(ctx context.Context, t rapid.TB, url string) *Chat {
	t.Helper()
	c, err := client.New(url, client.StaticToken("t"), client.WithRetry(1, client.Backoff{}))
	if err != nil {
		t.Fatal(err)
	}
	chat, err := Open(ctx, c, Options{Store: &MemoryStore{}, User: "ann", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return chat
}
