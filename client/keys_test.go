package client

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestKeysOnTheWire(t *testing.T) {
	empty, none, no := "", []string{}, time.Time{}
	name, at := "shop", time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	for want, v := range map[string]any{
		`{"name":"shop","scopes":["send"]}`: KeyDraft{Name: name, Scopes: []string{ScopeSend}},
		`{"name":"shop","scopes":["send"],"rate":"1/s","as":"any","groups":["g*"],"from":["10.0.0.0/8"],"expires_at":"2027-01-02T03:04:05Z"}`: KeyDraft{
			Name: name, Scopes: []string{ScopeSend}, Rate: "1/s", As: ActsFor{Any: true}, Groups: []string{"g*"}, From: []string{"10.0.0.0/8"},
			ExpiresAt: &at, RetryKey: "never in the body",
		},
		`{}`: KeyChange{},
		`{"as":null,"expires_at":null,"from":null,"groups":null,"rate":null}`: KeyChange{Rate: &empty, As: &ActsFor{}, Groups: &none, From: &none, ExpiresAt: &no},
		`{"as":["bot-*"],"expires_at":"2027-01-02T03:04:05Z","groups":["g"],"name":"shop","rate":"shop","scopes":["read"]}`: KeyChange{
			Name: &name, Scopes: []string{ScopeRead}, Rate: &name, As: &ActsFor{Users: []string{"bot-*"}}, Groups: &[]string{"g"}, ExpiresAt: &at,
		},
	} {
		if got, err := json.Marshal(v); err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
	for text, want := range map[string]ActsFor{`"any"`: {Any: true}, `null`: {}, `["a","b*"]`: {Users: []string{"a", "b*"}}} {
		k := Key{As: ActsFor{Any: true, Users: []string{"before"}}}
		if err := json.Unmarshal([]byte(`{"as":`+text+`}`), &k); err != nil || !reflect.DeepEqual(k.As, want) {
			t.Errorf("%s: got %+v, %v", text, k.As, err)
		}
	}
}

// TestActingIsSaidInEachRequest: in calls and in transfers, and not by the client that it was made of.
func TestActingIsSaidInEachRequest(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method+" "+strings.Join(r.Header["Chatd-As"], ",")+" "+r.Header.Get("Authorization"))
		w.Header().Set("Upload-Offset", "1")
	}))
	defer server.Close()
	program, err := New(server.URL, StaticToken("ck_1_x"))
	if err != nil {
		t.Fatal(err)
	}
	bot := program.As("bot")
	if _, err := bot.Me(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := bot.UploadOffset(t.Context(), "g", "f"); err != nil {
		t.Error(err)
	}
	if _, err := program.Me(t.Context()); err != nil {
		t.Error(err)
	}
	want := []string{"GET bot Bearer ck_1_x", "HEAD bot Bearer ck_1_x", "GET  Bearer ck_1_x"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
