package node

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestSettingsAreDocumented: every setting that -help shows stands in a page of docs/.
func TestSettingsAreDocumented(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	var docs strings.Builder
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		docs.Write(text)
	}
	settings := 0
	for field := range reflect.TypeFor[Config]().Fields() {
		env := field.Tag.Get("env")
		if _, hidden := field.Tag.Lookup("hidden"); env == "" || hidden {
			continue
		}
		settings++
		if !strings.Contains(docs.String(), "`"+env+"`") {
			t.Errorf("no page of docs/ names %s", env)
		}
	}
	if settings < 40 {
		t.Errorf("%d settings were found", settings)
	}
}
