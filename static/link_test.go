package static

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestLink(t *testing.T) {
	files := map[string][]byte{
		"js/main.js":    []byte("/** Starts. */\nimport { one, two as zwei } from \"./a.js\";\nimport * as a from \"./a.js\";\nimport {\n  b,\n  B,\n} from \"./sub/b.js\";\n\n/**\n * Begins.\n */\n  // Here.\n/** @type {number} */ (one(zwei, b, B));\n"),
		"js/a.js":       []byte("import { b } from \"./sub/b.js\";\nexport const one = () => b();\nconst two = \"export const no\";\nexport { two };\n"),
		"js/sub/b.js":   []byte("import v, { w } from \"../../vendor/v.js\";\nexport async function b() {\n  return v(w);\n}\nexport class B {}\n"),
		"js/unused.js":  []byte("export const unused = 1;\n"),
		"vendor/v.js":   []byte("export default 1;export const w=2;\n"),
		"js/circle.js":  []byte("import { c } from \"./circle2.js\";\nexport const d = 1;\n"),
		"js/circle2.js": []byte("import { d } from \"./circle.js\";\nexport const c = 1;\n"),
	}
	got, gotMap, err := link(files, "js/main.js")
	if err != nil {
		t.Fatal(err)
	}
	want := `import v, { w } from "./vendor/v.js";

// js/sub/b.js
const module_sub_b = (() => {
async function b() {
return v(w);
}
class B {}
return { b, B };
})();

// js/a.js
const module_a = (() => {
const { b } = module_sub_b;
const one = () => b();
const two = "export const no";
return { one, two };
})();

// js/main.js
const module_main = (() => {
const { one, two: zwei } = module_a;
const a = module_a;
const {
b,
B,
} = module_sub_b;
/** @type {number} */ (one(zwei, b, B));
return {  };
})();
`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// Lines 5 to 8 of the script are lines 2 to 5 of the first source, and so on.
	wantMap := `{"mappings":";;;;AACA;AACA;AACA;AACA;;;;;;ACJA;AACA;AACA;;;;;;ACDA;AACA;AACA;AACA;AACA;AACA;AAMA;;;","names":[],"sources":["/js/sub/b.js","/js/a.js","/js/main.js"],"version":3}`
	if string(gotMap) != wantMap {
		t.Errorf("got\n%s\nwant\n%s", gotMap, wantMap)
	}
	if _, _, err := link(files, "js/circle.js"); err == nil || !strings.Contains(err.Error(), "js/circle.js imports itself") {
		t.Errorf("a circle: %v", err)
	}
	for _, bad := range []string{
		`import { one } from "./nothing.js";`, `import a from "./a.js";`, `import "./a.js";`, `import { one } from './a.js';`,
		`export default 1;`, `export * from "./a.js";`, `export { one } from "./a.js";`, `export let x = 1;`, `const { one } = await import("./a.js");`,
		`await 1;`, `const x = import.meta.url;`, "const a = 1;\nexport { a as b };",
	} {
		files["js/bad.js"] = []byte(bad + "\n")
		if got, _, err := link(files, "js/bad.js"); err == nil {
			t.Errorf("%s is linked to\n%s", bad, got)
		}
	}
}

// TestSiteNamesContent changes one file and looks at the addresses.
func TestSiteNamesContent(t *testing.T) {
	files := fstest.MapFS{
		"index.html": {Data: []byte(`<script src="/assets/app.js">`)}, "css/b.css": {Data: []byte("b{}")}, "css/a.css": {Data: []byte("a{}")},
		"js/main.js": {Data: []byte("1;\n")}, "vendor/v.js": {Data: []byte("2;")}, "vendor/README.md": {Data: []byte("read")},
	}
	assets := func() []string {
		site, err := Site(files)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, name := range slices.Sorted(maps.Keys(site)) {
			if strings.HasPrefix(name, "assets/") {
				found = append(found, name)
			}
			if strings.HasSuffix(name, "app.css") && string(site[name]) != "a{}b{}" {
				t.Errorf("styles: %s", site[name])
			}
		}
		if len(found) != 5 || !strings.Contains(string(site["index.html"]), `src="/`+found[1]+`"`) {
			t.Errorf("%s, and index.html is %s", found, site["index.html"])
		}
		return found
	}
	first, again := assets(), assets()
	files["vendor/v.js"] = &fstest.MapFile{Data: []byte("3;")}
	changed := assets()
	if !slices.Equal(first, again) || first[0] == changed[0] || first[4] == changed[4] {
		t.Errorf("first %s, again %s, after a change %s", first, again, changed)
	}
}
