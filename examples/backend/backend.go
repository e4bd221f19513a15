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
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/chatd/chatd/client"
)

func main() {
	if err := walk(context.Background(), os.Getenv("CHATD_URL"), os.Getenv("CHATD_KEY"), append(os.Args, "orders")[1], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func walk(ctx context.Context, url, key, group string, out io.Writer) error {
	program, err := client.New(cmp.Or(url, "http://127.0.0.1:8080"), func(context.Context) (string, error) { return key, nil })
	if err != nil {
		return err
	}
	// The key makes the group for itself: it has no owner. With the retry key, a repeat is answered as the first time.
	if _, err := program.CreateGroup(ctx, client.GroupDraft{ID: group, Members: []string{"bot-1", "alice"}, Key: "create-" + group}); err != nil {
		return err
	}
	if _, err := program.As("bot-1").Send(ctx, group, client.Draft{Body: "Order 1 has shipped", ClientID: "order-1"}); err != nil {
		return err
	}
	if _, err := program.As("alice").Send(ctx, group, client.Draft{Body: "Thanks", ClientID: "thanks-1"}); err != nil {
		return err
	}
	page, err := program.As("alice").Messages(ctx, group, client.Range{After: client.At(0)})
	if err != nil {
		return err
	}
	for _, m := range page.Messages {
		if m.Kind == client.KindText {
			fmt.Fprintf(out, "%s: %s (via %s)\n", m.From, m.Body, m.Via) // by which a bot skips its own
		}
	}
	rotated, err := program.RotateKey(ctx, strings.Split(key, "_")[1], time.Hour) // for which the old one holds too
	if err != nil {
		return err
	}
	key = rotated.Key // in this answer alone; the clients ask for it before each request
	state, err := program.Group(ctx, group)
	fmt.Fprintf(out, "%d members, with the new key\n", state.Members)
	return err
}
