// Command backend is a backend with the Go client. It takes the server from CHATD_URL and a key from CHATD_KEY, made with
//
//	chatd keys add shop -scopes groups,send,read,keys -as 'bot-*,alice'
//
// and the group from its argument: it makes it, sends as two users, reads as one of them, and rotates its own key.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/chatd/chatd/client"
)

func main() {
	ctx, key, group := context.Background(), os.Getenv("CHATD_KEY"), append(os.Args, "orders")[1]
	credential := func(context.Context) (string, error) { return key, nil } // is asked before each request
	program := must(client.New(cmp.Or(os.Getenv("CHATD_URL"), "http://127.0.0.1:8080"), credential))
	bot, alice := program.As("bot-1"), program.As("alice")

	// The key makes the group for itself: it has no owner. With the retry key, a repeat is answered as the first time.
	must(program.CreateGroup(ctx, client.GroupDraft{ID: group, Members: []string{"bot-1", "alice"}, Key: "create-" + group}))

	must(bot.Send(ctx, group, client.Draft{Body: "Order 1 has shipped", ClientID: "order-1"}))
	must(alice.Send(ctx, group, client.Draft{Body: "Thanks", ClientID: "thanks-1"}))

	// What a key wrote has its id in Via, by which a bot skips its own.
	for _, m := range must(alice.Messages(ctx, group, client.Range{After: client.At(0)})).Messages {
		if m.Kind == client.KindText {
			fmt.Printf("%s: %s (via %s)\n", m.From, m.Body, m.Via)
		}
	}

	// The new key is in this answer alone. The old one holds for an hour more.
	key = must(program.RotateKey(ctx, strings.Split(key, "_")[1], time.Hour)).Key
	fmt.Printf("%d members, with the new key\n", must(program.Group(ctx, group)).Members)
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
