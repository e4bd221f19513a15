package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// TestPoll: votes are counted once each, can be taken back, and are of any member.
func TestPoll(t *testing.T) {
	node := harness.StartNode(t, harness.Config{})
	ann, ctx := node.Client("ann"), t.Context()
	if _, err := ann.CreateGroup(ctx, client.GroupDraft{ID: "team", Members: []string{"bob", "cid"}}); err != nil {
		t.Fatal(err)
	}
	id, err := ask(ctx, ann, "team", "Where do we eat?", []string{"Noodles", "The usual place"})
	if err != nil {
		t.Fatal(err)
	}
	for _, vote := range []struct {
		user    string
		option  int
		removed bool
	}{
		{"bob", 0, false}, {"bob", 0, false}, // arrives twice
		{"cid", 1, false}, {"cid", 1, true}, {"cid", 0, false}, // changes sides
		{"ann", 1, false},
	} {
		_, err := node.Client(vote.user).Send(ctx, "team", client.Draft{
			Kind: client.KindReaction, Target: id, Emoji: signs[vote.option], Removed: vote.removed,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var text strings.Builder
	if err := show(ctx, ann, "team", id, &text); err != nil {
		t.Fatal(err)
	}
	if want := "Where do we eat?\n   2  Noodles\n   1  The usual place (with yours)\n"; text.String() != want {
		t.Errorf("got %q, want %q", text.String(), want)
	}
	if err := show(ctx, ann, "team", 1, &text); !errors.Is(err, errNoPoll) {
		t.Errorf("of a notice: %v", err)
	}
	if _, err := ask(ctx, ann, "team", "Alone?", []string{"yes"}); err == nil {
		t.Error("a poll with one answer was sent")
	}
}
