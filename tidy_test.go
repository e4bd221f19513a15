// Package chatd_test holds the rules of the house that a program can check: which package may import which, how long files
// and functions are, which words are used, that documents and code speak of the same things.
package chatd_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const module = "github.com/chatd/chatd/"

const (
	fileLinesMax       = 500 // of what is shipped; a table of test cases may be longer
	functionLinesMax   = 100
	functionLinesLong  = 70
	functionsLongShare = 0.03 // the codebases that people call clear have about 2 %
)

// sources returns the files of the tree that satisfy keep, as slash paths; generated and vendored ones are left out.
func sources(t *testing.T, keep func(path string) bool) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		path = filepath.ToSlash(path)
		if d.IsDir() {
			if path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "vendor" || d.Name() == "dist" || d.Name() == "bin" || d.Name() == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if keep(path) && !strings.HasSuffix(path, ".gen.go") {
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatal("no file matches: the test would check nothing")
	}
	return found
}

func isGo(path string) bool { return strings.HasSuffix(path, ".go") }

func isTest(path string) bool { return strings.HasSuffix(path, "_test.go") }

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// mayImport reads from ARCHITECTURE.md which of our packages a folder may import: its table has a row for each folder, or for
// several alike. `x/...` is all below x. Tests may import more.
func mayImport(t *testing.T) map[string][]string {
	t.Helper()
	rules := map[string][]string{}
	for line := range strings.Lines(read(t, "ARCHITECTURE.md")) {
		row := strings.Split(strings.TrimSpace(line), " | ")
		if len(row) != 3 || !strings.HasPrefix(row[0], "| `") {
			continue
		}
		for _, folder := range quoted.FindAllStringSubmatch(row[0], -1) {
			rules[folder[1]] = []string{}
			for _, imported := range quoted.FindAllStringSubmatch(row[2], -1) {
				rules[folder[1]] = append(rules[folder[1]], imported[1])
			}
		}
	}
	return rules
}

// quoted is a folder as the table has it, without the slash at its end.
var quoted = regexp.MustCompile("`([a-z0-9/.-]+?)/?`")

func allows(rules []string, imported string) bool {
	return slices.ContainsFunc(rules, func(allowed string) bool {
		below, ok := strings.CutSuffix(allowed, "...")
		return allowed == imported || ok && strings.HasPrefix(imported, below)
	})
}

// TestImportsRunOneWay compares what every folder imports with its row in ARCHITECTURE.md.
func TestImportsRunOneWay(t *testing.T) {
	rules, used := mayImport(t), map[string]map[string]bool{}
	for _, path := range sources(t, func(p string) bool { return isGo(p) && !isTest(p) && !strings.HasPrefix(p, "bench/") }) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.ToSlash(filepath.Dir(path))
		for _, spec := range file.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			if ours, ok := strings.CutPrefix(imported, module); ok {
				if !allows(rules[folder], ours) {
					t.Errorf("%s imports %s, which %s must not know: ARCHITECTURE.md says what it may", path, ours, folder)
				}
				note(used, folder, ours)
			}
			technology := strings.HasPrefix(imported, "github.com/redis/") || strings.HasPrefix(imported, "github.com/labstack/") || imported == "net/http"
			if (folder == "chat" || strings.HasPrefix(folder, "chat/")) && technology {
				t.Errorf("%s imports %s: the domain knows no technology", path, imported)
			}
			// Its logging is a setting of the whole process, which is cmd's to make.
			redis := strings.HasPrefix(imported, "github.com/redis/") && !(folder == "cmd/chatd" && strings.HasSuffix(imported, "/logging"))
			if redis && !regexp.MustCompile(`^(store|queue|cmd/queue|internal|examples)\b`).MatchString(folder) {
				t.Errorf("%s imports %s: only store/ and queue/ speak to Redis", path, imported)
			}
		}
		note(used, folder, "")
	}
	for folder := range used {
		if rules[folder] == nil && !strings.Contains(folder, "testdata") {
			t.Errorf("%s has no row in ARCHITECTURE.md", folder)
		}
	}
}

// note notes that a folder is there, and what it imports.
func note(used map[string]map[string]bool, folder, imported string) {
	if used[folder] == nil {
		used[folder] = map[string]bool{}
	}
	used[folder][imported] = true
}

// TestTheTaskEngineStandsAlone: what is below queue/ can be used, and taken elsewhere, without the rest of the module. Only
// queuetest needs something of it: the Redis inside the process, which shares its clock with the test.
func TestTheTaskEngineStandsAlone(t *testing.T) {
	for _, path := range sources(t, func(p string) bool { return isGo(p) && !isTest(p) && strings.HasPrefix(p, "queue/") }) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			imported, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module)
			inside := imported == "queue" || strings.HasPrefix(imported, "queue/")
			if ours && !inside && !(strings.HasPrefix(path, "queue/queuetest/") && imported == "store/embedded") {
				t.Errorf("%s imports %s, which is outside the task engine", path, imported)
			}
		}
	}
}

func TestFilesAndFunctionsFitASitting(t *testing.T) {
	functions, long := 0, 0
	for _, path := range sources(t, isGo) {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if lines := set.File(file.Pos()).LineCount(); lines > fileLinesMax && !isTest(path) {
			t.Errorf("%s has %d lines, more than %d: does it hold one idea?", path, lines, fileLinesMax)
		}
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || isTest(path) {
				continue
			}
			functions++
			lines := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1
			if lines > functionLinesLong {
				long++
			}
			if lines > functionLinesMax {
				t.Errorf("%s: %s has %d lines, more than %d", path, fn.Name.Name, lines, functionLinesMax)
			}
		}
	}
	if share := float64(long) / float64(functions); share > functionsLongShare {
		t.Errorf("%d of %d functions have more than %d lines (%.1f %%)", long, functions, functionLinesLong, 100*share)
	}
}

// forbidden are words and calls that the house does without, with the reason.
var forbidden = []struct {
	holds   []string // a text has one of these in lower case if the pattern matches: looking for them is cheap
	pattern *regexp.Regexp
	in      func(path string) bool
	why     string
}{
	{[]string{"todo", "fixme", "xxx", "hack"}, regexp.MustCompile(`\bTODO\b|\bFIXME\b|\bXXX\b|\bHACK\b`), isSource, "unfinished work belongs in an issue"},
	{[]string{"skip"}, regexp.MustCompile(`\bt\.Skip`), isTest, "a test that needs something installs it or fails"},
	{[]string{"sleep"}, regexp.MustCompile(`\btime\.Sleep\(`), isTest, "wait for the event, not for a time"},
	{[]string{"room", "mailbox", "participant", "dequeue"}, regexp.MustCompile(`(?i)\b(chat ?room|mailbox|participant|dequeue)\b`), isSource, "one word for one idea: group, inbox, member, claim"},
	{[]string{"html", "document"}, regexp.MustCompile(`\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write)\b`), isBrowser, "text from people is only ever text"},
	{[]string{"testify"}, regexp.MustCompile(`testify`), isGo, "got and want are enough"},
	{[]string{"keys", "scan", "psubscribe"}, regexp.MustCompile(`"(KEYS|SCAN|PSUBSCRIBE)"|\.(Keys|PSubscribe)\(ctx|\.Scan\(ctx, \w+, ([^"]|"[^"])`), isStore, "no pattern ever reaches the server"},
}

func isSource(p string) bool {
	return (isGo(p) || strings.HasSuffix(p, ".lua") || isBrowser(p)) && p != "tidy_test.go"
}

func isBrowser(p string) bool { return strings.HasPrefix(p, "static/") && strings.HasSuffix(p, ".js") }

// isStore leaves out the embedded server, which has to know the commands that it refuses, the loader of scripts, for which
// KEYS is a table of Lua, and the doctor, who looks at every key there is.
func isStore(p string) bool {
	return (strings.HasPrefix(p, "store/") || strings.HasPrefix(p, "queue/")) && !strings.HasPrefix(p, "store/embedded/") &&
		!strings.HasPrefix(p, "queue/script/") && !strings.HasPrefix(p, "store/doctor/") && isGo(p) && !isTest(p)
}

func TestForbiddenWords(t *testing.T) {
	for _, path := range sources(t, isSource) {
		text := read(t, path)
		lower := strings.ToLower(text)
		for _, f := range forbidden {
			if !f.in(path) || !slices.ContainsFunc(f.holds, func(one string) bool { return strings.Contains(lower, one) }) {
				continue
			}
			if at := f.pattern.FindStringIndex(text); at != nil {
				t.Errorf("%s:%d: %q: %s", path, 1+strings.Count(text[:at[0]], "\n"), text[at[0]:at[1]], f.why)
			}
		}
	}
}

// notNames are words that no identifier is made of, and what the house says instead. See the table in CONTRIBUTING.md.
var notNames = map[string]string{
	"told": "notified, published or reported", "untold": "unpublished", "tell": "notify, publish or report", "tells": "notify, publish or report",
	"vouch": "heartbeat or renew", "vouched": "heartbeat or renew", "sweep": "trim, reap or overdue",
	"tray": "pending", "judge": "resolve or decide", "pace": "throttle or interval", "paced": "throttled", "pacing": "throttle",
	"hands": "workers", "team": "workers", "wish": "demand", "place": "position, slot or index", "places": "positions, slots or indexes",
	"job": "task", "jobs": "tasks", "mailbox": "inbox", "participant": "member", "participants": "members",
}

// foreignNames are the names that libraries gave.
var foreignNames = []string{"AddHook", "Hook", "DialHook", "ProcessHook", "ProcessPipelineHook", "SetPreHook", "Job", "JobArgs", "NewPeriodicJob", "PeriodicJob", "PeriodicJobs"}

var (
	wordInName  = regexp.MustCompile(`[A-Z]?[a-z0-9]+|[A-Z]+`)
	luaText     = regexp.MustCompile(`--.*|'[^'\n]*'|"[^"\n]*"`)
	luaName     = regexp.MustCompile(`[A-Za-z_]\w*`)
	logs        = regexp.MustCompile(`^(Debug|Info|Warn|Error)(Context)?$`)
	logKeyWrong = `"err"`
)

// known are the answers of notAName: most identifiers come many times.
var known = map[string]string{}

// notAName returns what is wrong with an identifier; empty: nothing.
func notAName(name string) string {
	instead, ok := known[name]
	if !ok {
		instead = insteadOf(name)
		known[name] = instead
	}
	return instead
}

func insteadOf(name string) string {
	if slices.Contains(foreignNames, name) {
		return ""
	}
	for _, word := range wordInName.FindAllString(name, -1) {
		if instead := notNames[strings.ToLower(word)]; instead != "" {
			return instead
		}
	}
	return ""
}

// TestNamesUseTheProjectsWords reads the identifiers of Go and Lua, and the keys of log lines: an error has one key.
func TestNamesUseTheProjectsWords(t *testing.T) {
	for _, path := range sources(t, func(p string) bool { return isGo(p) && p != "tidy_test.go" }) {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				if instead := notAName(n.Name); instead != "" {
					t.Errorf("%s: %s: say %s", set.Position(n.Pos()), n.Name, instead)
				}
			case *ast.CallExpr:
				call, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || !logs.MatchString(call.Sel.Name) {
					return true
				}
				for _, arg := range n.Args {
					if key, ok := arg.(*ast.BasicLit); ok && key.Value == logKeyWrong {
						t.Errorf("%s: the key of an error is \"error\"", set.Position(key.Pos()))
					}
				}
			}
			return true
		})
	}
	for _, path := range sources(t, func(p string) bool { return strings.HasSuffix(p, ".lua") }) {
		for i, line := range strings.Split(read(t, path), "\n") {
			for _, name := range luaName.FindAllString(luaText.ReplaceAllString(line, ""), -1) {
				if instead := notAName(name); instead != "" {
					t.Errorf("%s:%d: %s: say %s", path, i+1, name, instead)
				}
			}
		}
	}
}

var header = regexp.MustCompile(`\A(--.*\n)+`)

// TestScriptsSayWhatTheyTake holds rule 1 of the house: a script, its header and its paragraph in the documents.
func TestScriptsSayWhatTheyTake(t *testing.T) {
	documented := read(t, "docs/redis.md") + read(t, "queue/docs/reference.md")
	for _, path := range sources(t, func(p string) bool { return strings.HasSuffix(p, ".lua") }) {
		base := strings.TrimSuffix(filepath.Base(path), ".lua")
		text := read(t, path)
		head := strings.ToLower(header.FindString(text))
		if head == "" {
			t.Errorf("%s has no header", path)
		}
		if strings.Contains(path, "/lua/lib/") {
			continue
		}
		for _, word := range []string{"keys", "argv", "returns"} {
			if !strings.Contains(head, word) && (word == "returns" || strings.Contains(text, strings.ToUpper(word)+"[")) {
				t.Errorf("%s: its header does not say %s", path, word)
			}
		}
		if strings.HasPrefix(path, "examples/") {
			continue // its README explains it
		}
		name, documents := strings.TrimSuffix(strings.TrimPrefix(path, "store/lua/"), ".lua"), "docs/redis.md"
		if strings.HasPrefix(path, "queue/") {
			name, documents = base, "queue/docs/reference.md"
		}
		if beside, _, ok := strings.Cut(strings.TrimPrefix(path, "store/"), "/lua/"); ok && (beside == "doctor" || beside == "dump") {
			name = beside + "/" + base
		}
		if !strings.Contains(documented, "**"+name+"**") && !strings.Contains(documented, "`"+name+"`") {
			t.Errorf("%s: no paragraph in %s speaks of **%s**", path, documents, name)
		}
	}
}

var loaded = regexp.MustCompile(`new(?:Script|Reader|Freeing)\("(\w+)(/\w+)"`)

// TestScriptsLieWhereTheyAreRun: store/lua/log/append.lua is run by store/log.go, or by a file beside it that begins with log_.
func TestScriptsLieWhereTheyAreRun(t *testing.T) {
	found := map[string]bool{} // a script may be loaded twice: as it is, and for a server that is full
	for _, path := range sources(t, func(p string) bool { return filepath.Dir(p) == "store" && isGo(p) && !isTest(p) }) {
		file := strings.TrimSuffix(filepath.Base(path), ".go")
		for _, script := range loaded.FindAllStringSubmatch(read(t, path), -1) {
			found[script[1]+script[2]] = true
			if noun := script[1]; file != noun && !strings.HasPrefix(file, noun+"_") {
				t.Errorf("%s runs a script of store/lua/%s", path, noun)
			}
		}
	}
	if scripts := sources(t, func(p string) bool {
		return strings.HasPrefix(p, "store/lua/") && !strings.HasPrefix(p, "store/lua/lib/")
	}); len(found) != len(scripts) {
		t.Errorf("%d scripts are loaded, and there are %d", len(found), len(scripts))
	}
}

var link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

func TestDocumentsLinkToWhatIsThere(t *testing.T) {
	for _, path := range sources(t, func(p string) bool { return strings.HasSuffix(p, ".md") }) {
		for _, found := range link.FindAllStringSubmatch(read(t, path), -1) {
			target := filepath.Join(filepath.Dir(path), found[1])
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which is not there", path, found[1])
			}
		}
	}
}

const proseColumnsMax = 120

// TestProseWraps leaves out what cannot wrap: tables, code, and a line that is little more than a link.
func TestProseWraps(t *testing.T) {
	for _, path := range sources(t, func(p string) bool { return strings.HasSuffix(p, ".md") }) {
		code := false
		for i, line := range strings.Split(read(t, path), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				code = !code
			}
			if code || strings.HasPrefix(strings.TrimSpace(line), "|") || strings.Contains(line, "](") {
				continue
			}
			if columns := utf8.RuneCountInString(line); columns > proseColumnsMax {
				t.Errorf("%s:%d has %d columns, more than %d", path, i+1, columns, proseColumnsMax)
			}
		}
	}
}

var stilted = regexp.MustCompile(`(?i)\b(who is away|is told|are told|was told|were told|to be had|of its own|vouch\w*|tray|pacing)\b`)

// stiltedQuoted is the document that quotes what to avoid.
const stiltedQuoted = "CONTRIBUTING.md"

func TestProseIsPlain(t *testing.T) {
	for _, path := range sources(t, func(p string) bool { return strings.HasSuffix(p, ".md") && p != stiltedQuoted }) {
		text := read(t, path)
		for _, at := range stilted.FindAllStringIndex(text, -1) {
			t.Errorf("%s:%d: %q: say it as a colleague would", path, 1+strings.Count(text[:at[0]], "\n"), text[at[0]:at[1]])
		}
	}
}

var conflictMarker = regexp.MustCompile(`(?m)^(<{7}|>{7}) `)

func TestMergesAreResolved(t *testing.T) {
	for _, path := range sources(t, func(string) bool { return true }) {
		text := read(t, path)
		for _, at := range conflictMarker.FindAllStringIndex(text, -1) {
			t.Errorf("%s:%d: a marker of an unresolved merge", path, 1+strings.Count(text[:at[0]], "\n"))
		}
	}
}

func TestModuleHasNoReplace(t *testing.T) {
	if strings.Contains(read(t, "go.mod"), "\nreplace") {
		t.Error("go.mod replaces a module: what others build would differ from what we test")
	}
}

// methodsMax is how wide an interface may be, and packageLinesMax how long a package. Some may be longer: chat is what all parts of the
// domain share, store has all parts, each
// with its scripts beside it, queue is one state machine whose features all meet in the same steps, and client has a method for
// each call of the contract.
const (
	methodsMax      = 48
	packageLinesMax = 5200
	chatLinesMax    = 6700
	webLinesMax     = 7400
	storeLinesMax   = 10000
	queueLinesMax   = 6200
	clientLinesMax  = 6950
)

// TestInterfacesAndPackagesAreSmall counts the methods of an interface with those that it embeds from the same package; what
// is embedded from elsewhere counts there.
func TestInterfacesAndPackagesAreSmall(t *testing.T) {
	lines := map[string]int{}
	interfaces := map[string]*ast.InterfaceType{} // by folder and name
	for _, path := range sources(t, func(p string) bool { return isGo(p) && !isTest(p) && !strings.HasPrefix(p, "bench/") }) {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.ToSlash(filepath.Dir(path))
		lines[folder] += set.File(file.Pos()).LineCount()
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if face, ok := spec.Type.(*ast.InterfaceType); ok {
					interfaces[folder+"."+spec.Name.Name] = face
				}
			}
			return true
		})
	}
	for folder, n := range lines {
		limit := packageLinesMax
		switch folder {
		case "chat":
			limit = chatLinesMax
		case "store":
			limit = storeLinesMax
		case "web":
			limit = webLinesMax
		case "queue":
			limit = queueLinesMax
		case "client":
			limit = clientLinesMax
		}
		if n > limit {
			t.Errorf("%s has %d lines without tests, more than %d: what could be a package of its own?", folder, n, limit)
		}
	}
	for name := range interfaces {
		folder := name[:strings.LastIndex(name, ".")]
		if n := methodsOf(folder, interfaces[name], interfaces); n > methodsMax {
			t.Errorf("%s has %d methods, more than %d: what does each of its users need?", name, n, methodsMax)
		}
	}
}

// typeMethodsMax is how many methods a type may have.
const typeMethodsMax = 40

// TestTypesAreSmall counts the methods that are declared on each type.
func TestTypesAreSmall(t *testing.T) {
	methods := map[string]int{}
	for _, path := range sources(t, func(p string) bool { return isGo(p) && !isTest(p) }) {
		for _, receiver := range receivers.FindAllStringSubmatch(read(t, path), -1) {
			methods[filepath.ToSlash(filepath.Dir(path))+"."+receiver[1]]++
		}
	}
	for name, n := range methods {
		if n > typeMethodsMax && name != "client.Client" { // one for its users
			t.Errorf("%s has %d methods, more than %d: which noun is missing?", name, n, typeMethodsMax)
		}
	}
}

var receivers = regexp.MustCompile(`(?m)^func \((?:\w+ )?\*?(\w+)(?:\[[^\]]*\])?\) \w+`)

func methodsOf(folder string, face *ast.InterfaceType, all map[string]*ast.InterfaceType) (n int) {
	for _, field := range face.Methods.List {
		if len(field.Names) > 0 {
			n += len(field.Names)
			continue
		}
		if embedded, ok := field.Type.(*ast.Ident); ok && all[folder+"."+embedded.Name] != nil {
			n += methodsOf(folder, all[folder+"."+embedded.Name], all)
		}
	}
	return n
}
