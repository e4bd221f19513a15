package layout_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chatd/chatd/store/layout"
)

// rows are those of the tables of a document whose head begins like this, as their cells.
func rows(t *testing.T, file, head string) (found [][]string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	within := false
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, head):
			within = true
		case !strings.HasPrefix(line, "|"):
			within = false
		case within && !strings.HasPrefix(line, "|---"):
			cells := strings.Split(strings.Trim(line, "| \n"), " | ")
			found = append(found, cells)
		}
	}
	return found
}

var (
	brackets = regexp.MustCompile(`\([^)]*\)`)
	quoted   = regexp.MustCompile("`([^`]*)`")
	about    = regexp.MustCompile(`<(\w+)>$`) // the last part of a key
)

// documented are the keys of the tables in a document, with their types. Names that begin with one of the short forms are written
// out.
func documented(t *testing.T, file, head string, short map[string]string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, cells := range rows(t, file, head) {
		names := quoted.FindAllStringSubmatch(brackets.ReplaceAllString(cells[0], ""), -1)
		types := strings.Split(strings.ToLower(cells[1]), ", ")
		for n, name := range names {
			key := name[1]
			for begin, full := range short {
				if rest, ok := strings.CutPrefix(key, begin); ok {
					key = full + rest
					break
				}
			}
			if !strings.HasSuffix(key, ":<id>") {
				key = about.ReplaceAllString(key, "<user>")
			}
			if found[key] != "" {
				t.Errorf("%s has two rows for %s", file, key)
			}
			found[key] = types[min(n, len(types)-1)]
		}
	}
	return found
}

// TestKeysAreDocumented: the documents have a row for each key, with its type, and no others.
func TestKeysAreDocumented(t *testing.T) {
	want, wantQueue := map[string]string{}, map[string]string{}
	for _, k := range layout.Keys {
		if rest, ok := strings.CutPrefix(k.Pattern, "q:<id>:"); ok {
			wantQueue[rest] = k.Type
		} else {
			want[k.Pattern] = k.Type
		}
	}
	got := documented(t, "../../docs/redis.md", "| key |", map[string]string{"chat:{pNN}:": "", "chat:{p00}:": "", "g:": "g:<id>:", "u:": "u:<id>:"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/redis.md: -want +got\n%s", diff)
	}
	if diff := cmp.Diff(wantQueue, documented(t, "../../queue/docs/reference.md", "| key, after", nil)); diff != "" {
		t.Errorf("queue/docs/reference.md: -want +got\n%s", diff)
	}
}

// TestTasksAreDocumented: docs/tasks.md has a row for each kind, and no others.
func TestTasksAreDocumented(t *testing.T) {
	got := map[string]layout.Task{}
	for _, cells := range rows(t, "../../docs/tasks.md", "| kind |") {
		got[strings.Trim(cells[0], "`")] = layout.Task{Queue: cells[1], By: strings.Trim(cells[2], "`"), Home: layout.Home(cells[3])}
	}
	if diff := cmp.Diff(layout.Tasks, got); diff != "" {
		t.Errorf("docs/tasks.md: -want +got\n%s", diff)
	}
}
