// Command filter is a program that chatd asks before it stores a message. It knows words, and asks a language model about the rest
// if it is given one.
//
//	filter -addr 127.0.0.1:8090 -words words.txt -model http://127.0.0.1:11434/v1 -model-name llama-guard3
//
// Register it as the README beside this file says. It takes the secret of the hook from FILTER_SECRET, and what the model asks for as
// a bearer token from FILTER_MODEL_KEY.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// questionMax is more than chatd sends: a message has 64 KiB at most.
const questionMax = 256 << 10

// question is what chatd asks. Group is empty for a direct message.
type question struct {
	Data struct {
		Group   string
		From    string
		Message struct {
			Kind string
			Body string
			Data json.RawMessage
		}
	}
}

// answer is what becomes of the message. The reason of a refusal is shown to the sender, that of a review to moderators.
type answer struct {
	Action string `json:"action"`
	Body   string `json:"body,omitempty"` // in place of what was sent, with "rewrite"
	Reason string `json:"reason,omitempty"`
}

const (
	allow   = "allow"
	rewrite = "rewrite"
	refuse  = "refuse"
	review  = "review"
)

// filter answers questions.
type filter struct {
	signed *standardwebhooks.Webhook
	words  *words
	model  *model // nil if there is none
}

func (f *filter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, questionMax))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := f.signed.Verify(body, r.Header); err != nil { // otherwise anybody could try what gets past it
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	var q question
	if err := json.Unmarshal(body, &q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a, err := f.decide(r.Context(), q)
	if err != nil {
		log.Printf("message of %s: %v", q.Data.From, err)
		http.Error(w, "not decided", http.StatusBadGateway) // on_error of the hook decides
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(a) // fails where chatd waits no longer, and on_error has decided
}

// decide asks the words first, since they cost nothing, and the model about what those let pass.
func (f *filter) decide(ctx context.Context, q question) (answer, error) {
	m := q.Data.Message
	a := f.words.decide(m.Body, string(m.Data))
	if f.model == nil || a.Action == refuse || a.Action == review {
		return a, nil
	}
	said, err := f.model.ask(ctx, strings.TrimSpace(m.Body+"\n"+string(m.Data)))
	if err != nil || said == allow {
		return a, err
	}
	return answer{Action: said, Reason: "a language model says so"}, nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Getenv); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "filter: %v\n", err)
		os.Exit(1)
	}
}

// run serves until ctx is done.
func run(ctx context.Context, args []string, env func(string) string) error {
	flags := flag.NewFlagSet("filter", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:8090", "the address to listen on")
	list := flags.String("words", "", "a file with a line for each word: refuse, review or mask, and the word")
	url := flags.String("model", "", "the address of an OpenAI-compatible API, to which /chat/completions is added")
	name := flags.String("model-name", "", "the model to ask there")
	if err := flags.Parse(args); err != nil {
		return err
	}
	signed, err := standardwebhooks.NewWebhook(env("FILTER_SECRET"))
	if err != nil || env("FILTER_SECRET") == "" {
		return errors.New("FILTER_SECRET must be the secret that creating the hook gave: whsec_ and letters")
	}
	f := &filter{signed: signed}
	if f.words, err = readWords(*list); err != nil {
		return err
	}
	if (*url == "") != (*name == "") {
		return errors.New("-model and -model-name go together")
	}
	if *url != "" {
		f.model = &model{url: strings.TrimSuffix(*url, "/") + "/chat/completions", name: *name, key: env("FILTER_MODEL_KEY")}
	}
	server := &http.Server{Addr: *addr, Handler: f, ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Shutdown(context.WithoutCancel(ctx)) }) // what is asked gets its answer
	log.Printf("listening on %s", *addr)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
