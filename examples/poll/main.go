// Command poll asks a group a question that its members answer by reactions, and counts the answers.
//
//	CHATD_TOKEN=… poll -group team "Where do we eat?" "Noodles" "The usual place"
//	CHATD_TOKEN=… poll -group team -count 17
//
// chatd knows nothing of polls: the question is a message whose data names the options, and a vote is a reaction. So every client can
// vote and take a vote back, a vote that arrives twice is one, and a member may choose several options. The page of a product can
// draw the data as it likes.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"

	"github.com/chatd/chatd/client"
)

// signs stand for the options, in order.
var signs = []string{"1️⃣", "2️⃣", "3️⃣", "4️⃣", "5️⃣", "6️⃣", "7️⃣", "8️⃣", "9️⃣", "🔟"}

// poll is the data of a question.
type poll struct {
	Question string   `json:"question"`
	Options  []option `json:"options"`
}

// option is an answer, and the reaction that chooses it.
type option struct {
	Sign string `json:"sign"`
	Text string `json:"text"`
}

// content is what the message of a poll carries.
type content struct {
	Poll *poll `json:"poll"`
}

// result is an option with those who chose it.
type result struct {
	option
	Votes int64
	Mine  bool
}

var errNoPoll = errors.New("the message is no poll")

func main() {
	url := flag.String("url", "http://127.0.0.1:8080", "of chatd")
	group := flag.String("group", "", "the `id` of the group")
	count := flag.Int64("count", 0, "the `id` of the message whose votes are counted")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c, err := client.New(*url, client.StaticToken(os.Getenv("CHATD_TOKEN")))
	switch {
	case err != nil:
	case *count > 0:
		err = show(ctx, c, *group, *count, os.Stdout)
	default:
		var id int64
		if id, err = ask(ctx, c, *group, flag.Arg(0), flag.Args()[min(1, flag.NArg()):]); err == nil {
			fmt.Println(id)
		}
	}
	if err != nil {
		log.Fatal(err)
	}
}

// ask sends a question and returns the id of its message. Clients that know no polls show the text.
func ask(ctx context.Context, c *client.Client, group, question string, answers []string) (int64, error) {
	if question == "" || len(answers) < 2 || len(answers) > len(signs) {
		return 0, fmt.Errorf("a poll is a question and 2 to %d answers", len(signs))
	}
	p, lines := poll{Question: question}, []string{question}
	for i, text := range answers {
		p.Options = append(p.Options, option{signs[i], text})
		lines = append(lines, signs[i]+" "+text)
	}
	data, err := json.Marshal(content{&p})
	if err != nil {
		return 0, err
	}
	sent, err := c.Send(ctx, group, client.Draft{Body: strings.Join(lines, "\n"), Data: data})
	return sent.ID, err
}

// results counts the votes of a poll.
func results(ctx context.Context, c *client.Client, group string, id int64) (question string, list []result, err error) {
	page, err := c.Messages(ctx, group, client.Range{Before: id + 1, Limit: 1})
	if err != nil {
		return "", nil, err
	}
	var of content
	if len(page.Messages) != 1 || page.Messages[0].ID != id || json.Unmarshal(page.Messages[0].Data, &of) != nil || of.Poll == nil {
		return "", nil, errNoPoll
	}
	for _, o := range of.Poll.Options {
		votes := page.Messages[0].Reactions[o.Sign]
		list = append(list, result{o, votes.Count, votes.Mine})
	}
	return of.Poll.Question, list, nil
}

// show writes the votes of a poll, a line an option.
func show(ctx context.Context, c *client.Client, group string, id int64, to io.Writer) error {
	question, list, err := results(ctx, c, group, id)
	if err != nil {
		return err
	}
	text := question + "\n"
	for _, r := range list {
		mine := ""
		if r.Mine {
			mine = " (with yours)"
		}
		text += fmt.Sprintf("%4d  %s%s\n", r.Votes, r.Text, mine)
	}
	_, err = io.WriteString(to, text)
	return err
}
