package client_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/chatd/chatd/client"
)

func Example() {
	ctx := context.Background()
	alice, err := client.New("http://127.0.0.1:8080", client.StaticToken(os.Getenv("TOKEN")))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := alice.CreateGroup(ctx, client.GroupDraft{ID: "general", Members: []string{"bob"}}); err != nil {
		log.Fatal(err)
	}
	sent, err := alice.Send(ctx, "general", client.Text("hello"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("it is message", sent.ID)
}

// A bot that replies to messages. After a crash it continues with the message that it had not handled.
func ExampleClient_Stream() {
	ctx := context.Background()
	bot, err := client.New("http://127.0.0.1:8080", client.StaticToken(os.Getenv("TOKEN")))
	if err != nil {
		log.Fatal(err)
	}
	positions, err := client.NewFileCursors("bot.positions")
	if err != nil {
		log.Fatal(err)
	}
	stream, err := bot.Stream(ctx, client.StreamOptions{Cursors: positions, Ack: true})
	if err != nil {
		log.Fatal(err)
	}
	defer stream.Close()
	for event, err := range stream.Events(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		switch e := event.(type) {
		case client.Messages:
			for _, m := range e.Messages {
				if m.Kind != client.KindText || m.Body != "ping" {
					continue
				}
				// With this key the bot replies only once, even if a crash makes it see the question again.
				answer := client.Draft{Body: "pong", ReplyTo: m.ID, ClientID: fmt.Sprintf("pong-%d", m.ID)}
				if _, err := stream.Send(ctx, e.Group, answer); err != nil {
					log.Print(err)
				}
			}
		case client.Gap:
			log.Printf("messages %d to %d of %s are gone", e.After+1, e.From-1, e.Group)
		case client.Disconnected:
			log.Printf("away: %v", e.Err)
		}
	}
}

// Long polling, for networks that block websockets.
func ExampleClient_Poll() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	alice, err := client.New("http://127.0.0.1:8080", client.StaticToken(os.Getenv("TOKEN")))
	if err != nil {
		log.Fatal(err)
	}
	poll := alice.Poll(client.PollOptions{Ack: true})
	for event, err := range poll.Events(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		if e, ok := event.(client.Messages); ok {
			for _, m := range e.Messages {
				fmt.Println(m.From, m.Body)
			}
		}
	}
}
