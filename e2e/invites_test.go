package e2e

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// TestInvitesCommand makes, lists and revokes invitations from the command line, and the Go client uses one.
func TestInvitesCommand(t *testing.T) {
	t.Parallel()
	node := harness.StartNode(t, harness.Config{})
	run := func(args ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), cliWait)
		defer cancel()
		cmd := node.Command(ctx, append([]string{"invites"}, args...)...)
		var out, log bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &log
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %v %s", args, err, log.String())
		}
		return strings.TrimSpace(out.String())
	}
	ctx := t.Context()
	alice, bob := node.Client("alice"), node.Client("bob")
	must(alice.CreateGroup(ctx, client.GroupDraft{ID: "trip", Name: "Trip"}))(t)
	link := run("add", "-group", "trip", "-uses", "2", "-expires", "7d", "-note", "for the second window")
	address, code, _ := strings.Cut(link, "#invite=")
	if address != node.URL()+"/" || code == "" {
		t.Fatalf("got %q", link)
	}
	if shown := must(bob.CheckInvite(ctx, code))(t); shown.GroupName != "Trip" || shown.Members != 1 || shown.Server != node.URL() {
		t.Errorf("got %+v", shown)
	}
	if g := must(bob.AcceptInvite(ctx, code))(t); g.ID != "trip" || g.Members != 2 {
		t.Errorf("got %+v", g)
	}
	listed := run("list", "-group", "trip")
	if !strings.Contains(listed, "1 of 2") || !strings.Contains(listed, "for the second window") || strings.Contains(listed, code) {
		t.Errorf("got %s", listed)
	}
	invites, _, err := alice.Invites(ctx, "trip", client.Page{})
	if err != nil || len(invites) != 1 {
		t.Fatalf("got %+v, %v", invites, err)
	}
	run("rm", invites[0].ID)
	var refused *client.Error
	if _, err := node.Client("carol").AcceptInvite(ctx, code); !errors.As(err, &refused) || refused.Code != client.CodeGone {
		t.Errorf("got %v", err)
	}
	if server := run("add"); !strings.Contains(server, "#invite=") || !strings.Contains(run("list"), "0 of 1") {
		t.Errorf("got %s", server)
	}
}
