// Command stream-bot answers each text of its groups with what a language model says, as it says it.
//
//	CHATD_TOKEN=… stream-bot -url http://127.0.0.1:8080 -model http://127.0.0.1:11434/v1 -model-name llama3.2
//
// It asks any endpoint that speaks the API of OpenAI, with MODEL_KEY as a bearer token where it wants one. Who asks the bot to stop
// ends the question, too. bot.mjs beside this file is the same for Node.
package main

import (
	"bufio"
	"bytes"
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
	"sync"
	"syscall"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/writing"
)

// answersMax is how many answers are written at once: a group has room for 20.
const answersMax = 8

// model is an endpoint that speaks the API of OpenAI.
type model struct{ url, name, key string }

func main() {
	url := flag.String("url", "http://127.0.0.1:8080", "of chatd")
	m := model{key: os.Getenv("MODEL_KEY")}
	flag.StringVar(&m.url, "model", "http://127.0.0.1:11434/v1", "of the endpoint")
	flag.StringVar(&m.name, "model-name", "llama3.2", "of the model")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c, err := client.New(*url, client.StaticToken(os.Getenv("CHATD_TOKEN")))
	if err == nil {
		err = run(ctx, c, m)
	}
	if err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

// run answers until ctx ends.
func run(ctx context.Context, c *client.Client, m model) error {
	stream, err := c.Stream(ctx, client.StreamOptions{Ack: true})
	if err != nil {
		return err
	}
	defer stream.Close()
	var answers sync.WaitGroup
	defer answers.Wait()
	room, me := make(chan struct{}, answersMax), ""
	for event, err := range stream.Events(ctx) {
		if err != nil {
			return err
		}
		switch e := event.(type) {
		case client.Connected:
			me = e.User
			fmt.Println(me, "is ready")
		case client.Messages:
			for _, asked := range e.Messages {
				if asked.Kind != client.KindText || asked.From == me || asked.Body == "" {
					continue
				}
				room <- struct{}{}
				answers.Go(func() {
					defer func() { <-room }()
					if err := answer(ctx, c, m, e.Group, asked); err != nil {
						log.Printf("%s %d: %v", e.Group, asked.ID, err)
					}
				})
			}
		}
	}
	return nil
}

// answer writes what the model says to a message. It has a key, so one that is asked twice is answered once.
func answer(ctx context.Context, c *client.Client, m model, group string, asked client.Message) error {
	w, err := writing.Open(ctx, c, group, client.Draft{ReplyTo: asked.ID, ClientID: fmt.Sprintf("answer-%d", asked.ID)})
	if err != nil {
		return err
	}
	asking, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-w.Cancelled():
			stop()
		case <-asking.Done():
		}
	}()
	err = m.ask(asking, asked.Body, w)
	if err != nil && asking.Err() == nil {
		_, _ = io.WriteString(w, " (The model gave no answer.)")
	}
	return errors.Join(w.Close(), ctx.Err())
}

// ask writes what the model says, piece by piece, as server-sent events bring it.
func (m model) ask(ctx context.Context, text string, to io.Writer) error {
	body, err := json.Marshal(map[string]any{"model": m.name, "stream": true, "messages": []any{map[string]string{"role": "user", "content": text}}})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if m.key != "" {
		r.Header.Set("Authorization", "Bearer "+m.key)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the model answers %s", answer.Status)
	}
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if data = strings.TrimSpace(data); !ok || data == "[DONE]" {
			continue
		}
		var event struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			return err
		}
		if len(event.Choices) > 0 {
			if _, err := io.WriteString(to, event.Choices[0].Delta.Content); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}
