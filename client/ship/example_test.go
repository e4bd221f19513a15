package ship_test

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"os"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/ship"
)

// Ships log files to all members of a group and waits until every one of them has processed them.
func ExampleFiles() {
	ctx := context.Background()
	producer, err := client.New("http://127.0.0.1:8080", client.StaticToken(os.Getenv("TOKEN")))
	if err != nil {
		log.Fatal(err)
	}
	keep := int64(0)
	_, err = producer.CreateGroup(ctx, client.GroupDraft{ID: "logs", Members: []string{"billing", "search"}, Overflow: "block", Keep: &keep})
	if err != nil && client.CodeOf(err) != client.CodeExists {
		log.Fatal(err)
	}
	err = ship.Files(ctx, producer, ship.Options{
		Group: "logs", Paths: []string{"app.log"}, State: "app.ship", Wait: true,
		Progress: func(p ship.Progress) {
			for _, b := range p.Blockers {
				fmt.Printf("waiting for %s, who is %d messages behind\n", b.User, b.Behind)
			}
		},
		Result: func(r ship.Result) { fmt.Printf("%s: part %d: %s\n", r.From, r.Number, r.Text) },
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("all have finished")
}

// Counts the lines of what is shipped. After a crash it continues with the part that it had not finished.
func ExampleProcess() {
	ctx := context.Background()
	billing, err := client.New("http://127.0.0.1:8080", client.StaticToken(os.Getenv("TOKEN")))
	if err != nil {
		log.Fatal(err)
	}
	counted := map[int64]int{} // by message: a part that comes twice counts once
	err = ship.Process(ctx, billing, ship.ProcessOptions{Group: "logs", State: "billing.process"}, func(_ context.Context, part ship.Part) (string, error) {
		lines := 0
		scanner := bufio.NewScanner(part.Lines)
		for scanner.Scan() {
			lines++
		}
		counted[part.ID] = lines
		return fmt.Sprintf("%d lines", lines), scanner.Err()
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(counted), "parts")
}
