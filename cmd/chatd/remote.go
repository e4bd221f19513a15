package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/node"
)

const (
	operator         = "operator" // the user of the tokens that these commands make
	operatorTokenTTL = time.Hour  // longer than any listing takes
)

// remote are the flags of commands that call a running server over HTTP, so that they work wherever the store is.
type remote struct {
	URL   string `name:"url" env:"CHATD_URL" help:"URL of the server, such as https://chat.example.com. Default: the configured address on this host."`
	Token string `env:"CHATD_TOKEN" help:"Token of an operator. Default: created with the configured or generated secret."`
	JSON  bool   `name:"json" help:"Print one JSON object per line, for programs."`
}

// connect returns the server, and its URL for errors.
func (r *remote) connect(c node.Config) (*client.Client, string, error) {
	url := r.URL
	if url == "" {
		var err error
		if url, err = node.URL(c.Addr); err != nil {
			return nil, "", err
		}
	}
	token := r.Token
	if token == "" {
		var err error
		if token, err = c.Token(operator, "admin", operatorTokenTTL); err != nil {
			return nil, "", fmt.Errorf("%w; or pass an operator's token with -token or CHATD_TOKEN", err)
		}
	}
	// A person is waiting: one retry is enough.
	server, err := client.New(url, client.StaticToken(token), client.WithRetry(2, client.Backoff{Base: 200 * time.Millisecond, Max: time.Second}))
	if err != nil {
		return nil, "", fmt.Errorf("-url: %w", err)
	}
	return server, url, nil
}

// print writes v as a line of JSON if that was asked for, else text.
func (r *remote) print(env *environment, v any, text string) error {
	if r.JSON {
		line, err := json.Marshal(v)
		if err != nil {
			return err
		}
		text = string(line)
	}
	return env.print("%s\n", text)
}
