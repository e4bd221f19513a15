package local_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/local"
)

// A chat in a terminal: it shows a group as it is now, again with each change, and sends a line. Started again without a
// network, it shows what it has; what it could not send goes out the next time.
func Example() {
	ctx := context.Background()
	server, err := client.New("http://127.0.0.1:8080", client.StaticToken(os.Getenv("TOKEN")))
	if err != nil {
		log.Fatal(err)
	}
	store, err := local.OpenFile("alice.journal")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	chat, err := local.Open(ctx, server, local.Options{Store: store})
	if err != nil {
		log.Fatal(err)
	}
	defer chat.Close()
	timeline, err := chat.Timeline(ctx, "general", local.At{})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := chat.Send(ctx, "general", client.Text("hello")); err != nil {
		log.Fatal(err)
	}
	for range timeline.Changed() {
		for _, line := range timeline.View().Lines {
			switch {
			case line.Gap != nil:
				fmt.Println("-- some messages are gone --")
			case line.Kind == client.KindText:
				fmt.Println(line.From, line.Body, line.State)
			}
		}
	}
}

// What the server refuses stays as failed, until a person decides.
func ExampleChat_Send() {
	ctx := context.Background()
	server, err := client.New("http://127.0.0.1:8080", client.StaticToken(os.Getenv("TOKEN")))
	if err != nil {
		log.Fatal(err)
	}
	chat, err := local.Open(ctx, server, local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer chat.Close()
	sending, err := chat.Send(ctx, "general", client.Text("hello"))
	if err != nil {
		log.Fatal(err) // it could not be stored
	}
	if _, err := sending.Wait(ctx); err != nil {
		fmt.Println(err)
		if err := chat.Discard(ctx, sending.Key); err != nil {
			log.Fatal(err)
		}
	}
}
