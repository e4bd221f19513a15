package node

import (
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestSettingsAreDocumented: every setting that -help shows stands in a page of docs/. The tables of operations.md and limits.md
// name no others, and limits.md has the defaults of Config.
func TestSettingsAreDocumented(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	var all strings.Builder
	for _, page := range pages {
		all.WriteString(deployFile(t, filepath.Join("docs", filepath.Base(page))))
	}
	rows := map[string]reflect.StructTag{}
	for field := range reflect.TypeFor[Config]().Fields() {
		name := field.Tag.Get("env")
		rows[name] = field.Tag
		if _, hidden := field.Tag.Lookup("hidden"); !hidden && !strings.Contains(all.String(), "`"+name+"`") {
			t.Errorf("no page of docs/ names %s", name)
		}
		if _, bounded := field.Tag.Lookup("max"); !bounded && field.Type == reflect.TypeFor[number]() {
			t.Errorf("%s has no maximum", name)
		}
	}
	compared := 0
	for _, page := range []string{"docs/operations.md", "docs/limits.md"} {
		for _, line := range regexp.MustCompile("(?m)^\\| `CHATD_.*").FindAllString(deployFile(t, page), -1) {
			cells := strings.Split(line, " | ")
			for _, name := range found(t, cells[0], "`(CHATD_[A-Z_]+)[*`]") {
				row, known := rows[name]
				if !known && !strings.HasSuffix(name, "_") {
					t.Errorf("%s: %s is no setting", page, name)
				}
				documented, _, _ := strings.Cut(strings.ReplaceAll(cells[1], "`", ""), " ")
				if want := row.Get("default"); page == "docs/limits.md" && want != "" {
					compared++
					if documented != want {
						t.Errorf("%s: %s is %s by default, not %s", page, name, want, documented)
					}
				}
			}
		}
	}
	if len(rows) < 40 || compared < 10 {
		t.Errorf("%d settings were found, and %d defaults compared", len(rows), compared)
	}
}
