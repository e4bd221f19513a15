package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// TestAuditCommand lists who did what, page by page: to an operator all of it, to an admin of a group what was done there.
func TestAuditCommand(t *testing.T) {
	t.Parallel()
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_MAX_PAGE": "2"}})
	ctx := bounded(t, cliWait)
	alice, root := node.Client("alice"), operator(t, node)
	for _, id := range []string{"team", "other"} {
		must(alice.CreateGroup(ctx, client.GroupDraft{ID: id, Members: []string{"bob", "carl"}}))(t)
	}
	must(alice.Ban(ctx, "team", "bob", client.BanDraft{Reason: "sells watches"}))(t)
	must(alice.PutMember(ctx, "team", "carl", "admin"))(t)
	must(alice.Ban(ctx, "other", "bob", client.BanDraft{}))(t)
	must(root.CreateKey(ctx, client.KeyDraft{Name: "bot", Scopes: []string{client.ScopeRead}}))(t)

	home := newTerminal(t)
	audit := func(code int, user, role string, args ...string) (lines []string, stderr string) {
		t.Helper()
		out, stderr := home.run(code, "", append([]string{"audit", "-url", node.URL(), "-token", harness.Token(user, role, time.Hour)}, args...)...)
		return strings.Split(strings.TrimSuffix(out, "\n"), "\n"), stderr
	}
	all, _ := audit(0, "op", "admin")
	for i, line := range all {
		all[i] = strings.Join(strings.Fields(line)[1:], " ")
	}
	created, _, _ := strings.Cut(all[1], "=")
	if want := []string{
		"BY ACTION USER GROUP DETAIL", "op key.create - - key", "alice member.ban bob other", `alice member.role carl team role="admin"`,
		`alice member.ban bob team reason="sells watches"`,
	}; !slices.Equal(append([]string{all[0], created}, all[2:]...), want) {
		t.Errorf("got %q\nwant %q", all, want)
	}
	for query, want := range map[string]int{"-group team": 2, "-group team -user bob": 1, "-group team -action member.role": 1, "-group team -limit 1": 1} {
		if got, _ := audit(0, "carl", "", strings.Fields(query)...); len(got) != want+1 {
			t.Errorf("%s: got %q, want %d entries", query, got, want)
		}
	}
	if got, _ := audit(0, "op", "admin", "-action", "member.ban", "-json"); len(got) != 2 || !strings.HasPrefix(got[0], `{"id":"`) || !strings.Contains(got[0], `"action":"member.ban","group":"other","user":"bob","detail":{`) {
		t.Errorf("got %q", got)
	}
	audit(5, "carl", "", "-group", "other")
	if _, stderr := audit(5, "carl", ""); !strings.Contains(stderr, "an operator's") {
		t.Errorf("all of it, to no operator: %s", stderr)
	}
	if _, stderr := audit(5, "op", "admin", "-action", "member.bam"); !strings.Contains(stderr, "member.ban") {
		t.Errorf("an action that does not exist: %s", stderr)
	}
	audit(2, "op", "admin", "-limit", "-1")
}
