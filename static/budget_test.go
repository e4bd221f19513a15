package static

import (
	"bytes"
	"compress/gzip"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What a browser loads, in bytes as the server sends them and in files, the page itself apart. docs/performance.md has the aims.
const (
	doorBytesMax, doorFilesMax   = 50 << 10, 4  // up to the sign-in
	groupBytesMax, groupFilesMax = 136 << 10, 7 // up to the first group, the door included
	laterBytesMax, laterFilesMax = 26_500, 2    // each part of the page that are loaded when they are first needed
)

var (
	imports = regexp.MustCompile(`(?:import|from)\s?"\./([\w.-]+)"`)
	later   = regexp.MustCompile(`import\("\./([\w.-]+)"\)`)
)

// loads are names of dist/ and all that they import, in the order in which a browser hears of them.
func loads(files map[string]string, names ...string) []string {
	for i := 0; i < len(names); i++ {
		for _, m := range imports.FindAllStringSubmatch(files["dist/"+names[i]], -1) {
			if !slices.Contains(names, m[1]) {
				names = append(names, m[1])
			}
		}
	}
	return names
}

// sent is how many bytes the server sends for files of dist/.
func sent(t *testing.T, files map[string]string, names []string) int {
	t.Helper()
	total := 0
	for _, name := range names {
		body := files["dist/"+name]
		if body == "" {
			t.Fatalf("there is no %s", name)
		}
		if !strings.HasSuffix(name, ".woff2") {
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			if _, err := w.Write([]byte(body)); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			body = packed.String()
		}
		total += len(body)
	}
	return total
}

// TestPageLoadsLittle adds up what the door, the first group and each later part of the page load.
func TestPageLoadsLittle(t *testing.T) {
	files := made(t, Files)
	within := func(what string, names []string, bytesMax, filesMax int) {
		t.Helper()
		total := sent(t, files, names)
		t.Logf("%s: %d B in %d files", what, total, len(names))
		if len(names) == 0 || total > bytesMax || len(names) > filesMax {
			t.Errorf("%s: %q are %d B in %d files, want at most %d B in %d", what, names, total, len(names), bytesMax, filesMax)
		}
	}
	door := loads(files, "page.css", "inter.woff2", "main.js")
	within("the door", door, doorBytesMax, doorFilesMax)
	shell := later.FindStringSubmatch(files["dist/main.js"])
	if shell == nil {
		t.Fatal("main.js imports no shell later")
	}
	group := loads(files, append(slices.Clone(door), "app.css", shell[1])...)
	within("the first group", group, groupBytesMax, groupFilesMax)

	parts := 0
	seen := slices.Clone(group)
	for i := 0; i < len(seen); i++ {
		for _, m := range later.FindAllStringSubmatch(files["dist/"+seen[i]], -1) {
			if slices.Contains(seen, m[1]) {
				continue
			}
			all := loads(files, m[1])
			seen = append(seen, m[1])
			parts++
			within(m[1], slices.DeleteFunc(all, func(name string) bool { return slices.Contains(group, name) }), laterBytesMax, laterFilesMax)
		}
	}
	if parts < 8 {
		t.Errorf("%d parts are loaded later: is that all?", parts)
	}
}

// adminBytesMax is what the page of operators loads to its first view, without its style and face; the other views come later.
const adminBytesMax = 25_600

// TestAdminLoadsLittle adds up what an operator loads.
func TestAdminLoadsLittle(t *testing.T) {
	files := made(t, Files)
	first := loads(files, "admin.js")
	total := sent(t, files, first)
	t.Logf("%q: %d B", first, total)
	if total > adminBytesMax {
		t.Errorf("%q are %d B, want at most %d", first, total, adminBytesMax)
	}
	parts := 0
	for _, name := range first {
		for _, m := range later.FindAllStringSubmatch(files["dist/"+name], -1) {
			all := slices.DeleteFunc(loads(files, m[1]), func(name string) bool { return slices.Contains(first, name) })
			parts++
			if n := sent(t, files, all); n > laterBytesMax {
				t.Errorf("%q are %d B, want at most %d", all, n, laterBytesMax)
			}
		}
	}
	if parts == 0 {
		t.Error("nothing is loaded later")
	}
}
