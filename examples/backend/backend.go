// Command backend is a backend with the Go client. It takes the server from CHATD_URL and a key from CHATD_KEY, made with
//
//	chatd keys add shop -scopes users,groups,send,read -as 'user-*'
//
// and the group from its argument. It creates 1,000 users, makes a group of them, sends as two of them, reads as one, and revokes the
// tokens of one. All of it may be repeated.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/chatd/chatd/client"
)

func main() {
	ctx, group := context.Background(), append(os.Args, "orders")[1]
	program := must(client.New(cmp.Or(os.Getenv("CHATD_URL"), "http://127.0.0.1:8080"), client.StaticToken(os.Getenv("CHATD_KEY"))))

	users, members := make([]client.UserChange, 1000), make([]string, 1000)
	for i := range users {
		members[i] = fmt.Sprintf("user-%d", i+1)
		users[i] = client.UserChange{User: members[i], Profile: client.ProfileChange{Name: new(fmt.Sprintf("User %d", i+1))}}
	}
	if changed := must(program.PutUsers(ctx, users)); len(changed.Errors) > 0 {
		log.Fatalf("users: %v", changed.Errors)
	}

	// Ops on one group run in their order, and each has a result of its own. The key makes the group for itself, so it has no owner.
	// With the retry key, a repeat does nothing twice.
	results := must(program.Batch(ctx, "make-"+group, []client.Op{
		{"op": "create_group", "id": group, "members": members},
		{"op": "send", "as": "user-1", "group": group, "body": "Order 1 has shipped"},
		{"op": "send", "as": "user-2", "group": group, "body": "Thanks"},
	}))
	for _, r := range results {
		if r.Code != "" {
			log.Fatalf("batch: %d %s: %s", r.Status, r.Code, r.Detail)
		}
	}

	// What a key wrote has its id in Via, by which a bot skips its own.
	for _, m := range must(program.As("user-2").Messages(ctx, group, client.Range{After: client.At(0)})).Messages {
		if m.Kind == client.KindText {
			fmt.Printf("%s: %s (via %s)\n", m.From, m.Body, m.Via)
		}
	}

	if err := program.Revoke(ctx, "user-2", time.Time{}); err != nil { // tokens that were issued until now are void within a second
		log.Fatal(err)
	}
	fmt.Println(must(program.Group(ctx, group)).Members, "members, tokens of user-2 revoked")
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
