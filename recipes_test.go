package chatd_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// recipes are the rows of CONTRIBUTING.md that say where a change goes: the files, with wildcards, by what is to be added.
func recipes(t *testing.T) map[string][]string {
	t.Helper()
	_, text, _ := strings.Cut(read(t, "CONTRIBUTING.md"), "| to add | touch |\n")
	table, _, _ := strings.Cut(text, "\n\n")
	found := map[string][]string{}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(cells) != 2 {
			continue
		}
		for _, match := range regexp.MustCompile("`([a-z_*-]+[/.][^` ]+)`").FindAllStringSubmatch(cells[1], -1) {
			found[cells[0]] = append(found[cells[0]], match[1])
		}
	}
	return found
}

// TestRecipesAreComplete: what the recipes of CONTRIBUTING.md name is there, and an example of what each adds is in no file that its
// recipe does not name. Tests of their own, what is generated and the benchmarks do not count.
func TestRecipesAreComplete(t *testing.T) {
	all := recipes(t)
	for what, files := range all {
		for _, file := range files {
			if found, err := filepath.Glob(file); err != nil || len(found) == 0 {
				t.Errorf("%s: there is no %s", what, file)
			}
		}
	}
	examples := map[string]*regexp.Regexp{
		"a route":             regexp.MustCompile(`[gG]etPushKey|"push", "key"|/v1/push/key`),
		"a step of the store": regexp.MustCompile(`backlog/blockers|\tBlockers\(ctx context|\*Groups\) Blockers`),
		"a kind of task":      regexp.MustCompile("TaskUnreact\\b|'unreact'|enqueue_unreact|`unreact`"),
		"a key in Redis":      regexp.MustCompile(`gone_senders`),
		"a setting":           regexp.MustCompile(`CHATD_MAX_FIRINGS|\.MaxFirings\b`),
	}
	text := regexp.MustCompile(`\.(go|lua|md|ya?ml|js)$`)
	seen := map[string]int{}
	for _, path := range sources(t, func(path string) bool {
		return text.MatchString(path) && path != "CHANGELOG.md" && !strings.HasPrefix(path, "bench/") && !strings.HasPrefix(path, "internal/harness/")
	}) {
		body := read(t, path)
		for what, example := range examples {
			if isTest(path) && !slices.Contains(all[what], path) || !example.MatchString(body) {
				continue
			}
			seen[what]++
			if !slices.ContainsFunc(all[what], func(file string) bool { ok, _ := filepath.Match(file, path); return ok }) {
				t.Errorf("%s: the recipe in CONTRIBUTING.md does not name %s, which has %s", what, path, example)
			}
		}
	}
	for what := range examples {
		if seen[what] < 3 {
			t.Errorf("%s: the example is in %d files", what, seen[what])
		}
	}
}

// TestFieldsOfMessages: each field of the content of messages is where its recipe says.
func TestFieldsOfMessages(t *testing.T) {
	_, content, _ := strings.Cut(read(t, "chat/content.go"), "type Content struct {\n")
	content, _, _ = strings.Cut(content, "\n}\n")
	fields := regexp.MustCompile(`json:"(\w+)`).FindAllStringSubmatch(content, -1)
	if len(fields) < 10 {
		t.Fatalf("%d fields were found", len(fields))
	}
	for _, field := range fields {
		for path, form := range map[string]string{"client/types.go": `json:"%,`, "web/openapi.yaml": "        %: "} {
			if !strings.Contains(read(t, path), strings.ReplaceAll(form, "%", field[1])) {
				t.Errorf("%s has no field %s of messages", path, field[1])
			}
		}
	}
}
