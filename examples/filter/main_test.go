package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

const testMax = 2 * time.Minute

func TestMain(m *testing.M) { harness.Main(m) }

// startModel stands for a model: a text that names one of its words gets that as the answer.
func startModel(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Model    string
			Messages []struct{ Role, Content string }
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer key" ||
			asked.Model != "small" || len(asked.Messages) != 2 || asked.Messages[0].Role != "system" || asked.Messages[1].Role != "user" {
			t.Errorf("the model was asked %s %s %+v: %v", r.URL.Path, r.Header, asked, err)
		}
		said := "allow"
		text := asked.Messages[1].Content
		switch {
		case strings.Contains(text, "broken"):
			http.Error(w, "out of memory", http.StatusInternalServerError)
			return
		case strings.Contains(text, "chatty"):
			said = "I think that this message is fine."
		case strings.Contains(text, "hate"):
			said = `"Refuse."`
		case strings.Contains(text, "maybe"):
			said = "review\n"
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": map[string]string{"role": "assistant", "content": said}}}})
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1/chat/completions"
}

func listOf(t *testing.T, lines string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "words.txt")
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestFilter has a server ask the filter about messages, and the filter a model.
func TestFilter(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), testMax)
	defer cancel()
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_EGRESS_ALLOW": "127.0.0.0/8"}})
	var current atomic.Pointer[filter]
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { current.Load().ServeHTTP(w, r) }))
	t.Cleanup(hook.Close)
	alice := node.Client("alice")
	operator, err := client.New(node.URL(), client.StaticToken(harness.Token("root", "admin", time.Hour)))
	if err != nil {
		t.Fatal(err)
	}
	made, err := operator.CreateHook(ctx, client.HookDraft{URL: hook.URL, OnError: client.OnErrorRefuse, TimeoutMS: 5000})
	if err != nil {
		t.Fatal(err)
	}
	known, err := readWords(listOf(t, "# words\n\nrefuse casino\nreview  Lawyer\nmask dárn\n"))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := standardwebhooks.NewWebhook(made.Secret)
	if err != nil {
		t.Fatal(err)
	}
	current.Store(&filter{signed: signed, words: known, model: &model{url: startModel(t), name: "small", key: "key"}})
	if _, err := alice.CreateGroup(ctx, client.GroupDraft{ID: "town", Members: []string{"bob"}}); err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		draft      client.Draft
		code, body string // what comes of it: an error, or the stored text
	}{
		{client.Text("Good morning"), "", "Good morning"},
		{client.Text("A DA\u0301RN good morning, dárned!"), "", "A ***** good morning, dárned!"},
		{client.Text("Win at the Casino."), client.CodeRefused, ""},
		{client.Text("the casinos"), "", "the casinos"},
		{client.Text("my lawyer"), client.CodeInReview, ""},
		{client.Draft{Data: json.RawMessage(`{"title":"casino"}`)}, client.CodeRefused, ""},
		{client.Draft{Data: json.RawMessage(`{"title":"dárn"}`)}, client.CodeRefused, ""},
		{client.Text("I hate you"), client.CodeRefused, ""},
		{client.Text("well, maybe"), client.CodeInReview, ""},
		{client.Text("chatty"), client.CodeRefused, ""}, // by on_error, as is the next
		{client.Text("broken"), client.CodeRefused, ""},
	} {
		m, err := alice.Send(ctx, "town", c.draft)
		code := ""
		if failed := (*client.Error)(nil); errors.As(err, &failed) {
			code = failed.Code
		}
		if code != c.code || m.Body != c.body || (err != nil) != (c.code != "") {
			t.Errorf("%+v: got %q, %v, want %q, code %q", c.draft, m.Body, err, c.body, c.code)
		}
	}
	waiting, _, err := operator.Reviews(ctx, "town", client.Page{})
	if err != nil || len(waiting) != 2 {
		t.Errorf("%d wait for a moderator, want 2: %v", len(waiting), err)
	}
	res, err := http.Post(hook.URL, "application/json", strings.NewReader(`{"data":{"message":{"body":"hello"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _ = res.Body.Close(); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a question that is not signed: %s", res.Status)
	}
}

// TestMistakesAreNamed: in the list, the flags and the environment.
func TestMistakesAreNamed(t *testing.T) {
	secret := "whsec_" + strings.Repeat("ab", 16)
	for _, c := range []struct {
		want, secret string
		args         []string
	}{
		{"FILTER_SECRET", "", nil}, {"FILTER_SECRET", "whsec_%", nil}, {"absent.txt", secret, []string{"-words", "absent.txt"}},
		{"words.txt:2", secret, []string{"-words", listOf(t, "mask x\nforbid y\n")}}, {"words.txt:1", secret, []string{"-words", listOf(t, "mask two words")}},
		{"-model-name", secret, []string{"-model", "http://127.0.0.1:1/v1"}}, {"not defined", secret, []string{"-nothing"}},
	} {
		err := run(t.Context(), c.args, func(string) string { return c.secret })
		if err == nil || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%q: got %v, want %q", c.args, err, c.want)
		}
	}
}
