package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/pgtest"
	"github.com/chatd/chatd/internal/redistest"
)

// TestSearch finds messages of which most are only in the archive.
func TestSearch(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		testSearch(t, harness.Config{Data: t.TempDir(), Env: map[string]string{"CHATD_ARCHIVE": "sqlite:" + filepath.Join(t.TempDir(), "archive.db")}})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		testSearch(t, harness.Config{Redis: redistest.Start(t).URL(), Env: map[string]string{"CHATD_ARCHIVE": pgtest.Start(t).Database()}})
	})
}

func testSearch(t *testing.T, config harness.Config) {
	h := newHistory(t, config)
	h.make("g", 60)
	hidden := false
	must(h.ann.CreateGroup(h.ctx, client.GroupDraft{ID: "closed", History: &hidden}))(t) // 1
	must(h.ann.Send(h.ctx, "closed", client.Text("message before bob came")))(t)         // 2
	must(h.ann.PutMember(h.ctx, "closed", "bob", ""))(t)                                 // 3
	later := must(h.ann.Send(h.ctx, "closed", client.Text("message after bob came")))(t) // 4

	find := func(c *client.Client, q client.SearchQuery) (found []string) {
		t.Helper()
		for {
			page := must(c.Search(h.ctx, q))(t)
			for page.IncompleteBefore != nil { // a slow machine archives everything over several searches
				page = must(c.Search(h.ctx, q))(t)
			}
			for _, hit := range page.Hits {
				if len(hit.Snippet.Marks) == 0 {
					t.Errorf("no marks in %+v", hit)
				}
				found = append(found, fmt.Sprint(hit.Message.Group, "/", hit.Message.ID))
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				return found
			}
		}
	}
	check := func(what string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	check("what was sent just now", find(h.bob, client.SearchQuery{Text: "message bob"}), "closed/4")
	check("by its author", find(h.ann, client.SearchQuery{Text: "message bob", From: "ann"}), "closed/4", "closed/2")
	if all := find(h.bob, client.SearchQuery{Text: "message", Limit: 7}); len(all) != 61 || len(slices.Compact(slices.Sorted(slices.Values(all)))) != 61 {
		t.Errorf("%d hits on pages of 7: %v", len(all), all)
	}
	check("in a time", find(h.bob, client.SearchQuery{Text: "message", Since: later.SentAt}), "closed/4")
	check("a phrase", find(h.bob, client.SearchQuery{Text: `"message 3 of g"`}), "g/6")

	must(h.ann.Send(h.ctx, "g", client.Draft{Kind: client.KindEdit, Target: 6, Body: "other words"}))(t)
	must(h.ann.Send(h.ctx, "g", client.Draft{Kind: client.KindDelete, Target: 7}))(t)
	check("an edited message", find(h.bob, client.SearchQuery{Text: "other words"}), "g/6")
	check("by what it was before", find(h.bob, client.SearchQuery{Text: `"message 3 of g"`}))
	check("a deleted message", find(h.bob, client.SearchQuery{Text: `"message 4 of g"`}))

	h.node.Terminate()
	h.node.Start()
	check("after a restart", find(h.bob, client.SearchQuery{Text: "other words"}), "g/6")
	if err := h.bob.RemoveMember(h.ctx, "g", "bob"); err != nil {
		t.Fatal(err)
	}
	check("a former member", find(h.bob, client.SearchQuery{Text: "message"}), "closed/4")
	if _, err := h.bob.Search(h.ctx, client.SearchQuery{Text: "message", Group: "g"}); client.CodeOf(err) != client.CodeNotFound {
		t.Errorf("a former member in the group: %v", err)
	}
	if _, err := h.bob.Search(h.ctx, client.SearchQuery{Text: strings.Repeat("a ", 33)}); client.CodeOf(err) != client.CodeInvalid {
		t.Errorf("a long query: %v", err)
	}
}
