package client

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestPinsOnTheWire: what is asked, and what is read of the answers.
func TestPinsOnTheWire(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method+" "+r.URL.String())
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		_, _ = w.Write([]byte(`{"pins":[{"message":{"id":4,"group":"g","from":"bob","kind":"text","body":"x","sent_at":"2027-01-02T03:04:05.000Z",` +
			`"reactions":{"👍":{"count":2,"mine":true}}},"by":"","at":"2027-01-02T03:04:06.000Z"}],"next":"9"}`))
	}))
	defer server.Close()
	c, err := New(server.URL, StaticToken("x"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.PinMessage(t.Context(), "g", 4); err != nil {
		t.Error(err)
	}
	if err := c.UnpinMessage(t.Context(), "g", 4); err != nil {
		t.Error(err)
	}
	list, next, err := c.Pins(t.Context(), "g", Page{Limit: 1})
	if err != nil || next != "9" || len(list) != 1 {
		t.Fatalf("got %+v, %q, %v", list, next, err)
	}
	if p := list[0]; p.Message.ID != 4 || p.Message.Reactions["👍"].Count != 2 || p.By != "" || !p.At.Equal(time.Date(2027, 1, 2, 3, 4, 6, 0, time.UTC)) {
		t.Errorf("got %+v", p)
	}
	want := []string{"PUT /v1/groups/g/pins/4", "DELETE /v1/groups/g/pins/4", "GET /v1/groups/g/pins?limit=1"}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("asked %q, want %q", got, want)
		}
	}
}
