package static

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// link joins the ES modules that the module at main reaches into one module, which a browser loads with one request. Each
// becomes a function that returns its exports, in the order in which a browser would run them. Names and lines stay what
// they are, except for indentation and lines that hold only comments, and the source map leads a debugger to the files as they were written.
// Imports of vendored modules stay imports, relative to the folder above js/.
//
// It knows the syntax that this client uses, and refuses the rest: imports and exports begin a line, own modules are
// imported by names in braces or as a whole, exports are declarations of constants, functions and classes, and no module
// imports itself by way of others.
func link(files map[string][]byte, main string) (script, sourceMap []byte, err error) {
	l := linker{files: files, vendor: make(map[string]bool), done: make(map[string]bool)}
	if err := l.add(main); err != nil {
		return nil, nil, err
	}
	sourceMap, err = l.sourceMap()
	return []byte(strings.Join(l.lines(func(line outLine) string { return line.text }), "\n")), sourceMap, err
}

type linker struct {
	files   map[string][]byte
	vendor  map[string]bool // import statements of vendored modules that head has
	done    map[string]bool // false: being added
	head    []outLine       // imports of vendored modules
	body    []outLine
	sources []string // of the lines, by number
}

// outLine is a line of the script, and where it comes from: row -1 is from nowhere.
type outLine struct {
	text        string
	source, row int
}

func written(format string, args ...any) outLine { return outLine{fmt.Sprintf(format, args...), 0, -1} }

var (
	importLine = regexp.MustCompile(`(?m)^import\b([^"';]*?)from "([^"]+)";$`)
	exportLine = regexp.MustCompile(`(?m)^export (?:async function\*?|function\*?|class|const) ([\w$]+)`)
	exportList = regexp.MustCompile(`(?m)^export \{([^}\n]*)\};$`)
	named      = regexp.MustCompile(`^\s*\{[^}]*\}\s*$`)
	whole      = regexp.MustCompile(`^\s*\* as ([\w$]+)\s*$`)
	renamed    = regexp.MustCompile(`([\w$]+) as ([\w$]+)`)
	notKnown   = regexp.MustCompile(`^(?:import|export|await)\b.*|\bimport\.meta\b`)
)

// add writes a module behind the modules that it imports.
func (l *linker) add(name string) error {
	if done, known := l.done[name]; known {
		if !done {
			return fmt.Errorf("%s imports itself by way of others", name)
		}
		return nil
	}
	source, ok := l.files[name]
	if !ok {
		return fmt.Errorf("%s is imported, but there is no such file", name)
	}
	l.done[name] = false
	imports, _ := cutImports(string(source))
	for _, m := range importLine.FindAllStringSubmatch(imports, -1) {
		if err := l.addImport(name, m[1], m[2]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	text, exports := rewrite(name, string(source))
	if found := unknown(text); found != "" || slices.Contains(exports, "as") {
		return fmt.Errorf("%s: %q is syntax that cannot be linked", name, found)
	}
	l.sources = append(l.sources, name)
	l.body = append(l.body, written(""), written("// %s", name), written("const %s = (() => {", variable(name)))
	l.body = append(l.body, code(text, len(l.sources)-1)...)
	l.body = append(l.body, written("return { %s };", strings.Join(exports, ", ")), written("})();"))
	l.done[name] = true
	return nil
}

func (l *linker) addImport(name, clause, from string) error {
	from = path.Join(path.Dir(name), from)
	if !strings.HasPrefix(from, "vendor/") {
		if !named.MatchString(clause) && !whole.MatchString(clause) {
			return fmt.Errorf("the import of %s: own modules have no default export", from)
		}
		return l.add(from)
	}
	statement := fmt.Sprintf("import%sfrom \"./%s\";", clause, from)
	if !l.vendor[statement] {
		l.vendor[statement] = true
		l.head = append(l.head, written("%s", statement))
	}
	return nil
}

// rewrite turns imports into constants, and exports into declarations and a list of names. Every line stays where it is.
func rewrite(name, text string) (code string, exports []string) {
	imports, text := cutImports(text)
	imports = importLine.ReplaceAllStringFunc(imports, func(statement string) string {
		m := importLine.FindStringSubmatch(statement)
		from := path.Join(path.Dir(name), m[2])
		if strings.HasPrefix(from, "vendor/") {
			return strings.Repeat("\n", strings.Count(statement, "\n"))
		}
		clause := whole.ReplaceAllString(renamed.ReplaceAllString(m[1], "$1: $2"), " $1 ")
		return fmt.Sprintf("const%s= %s;", clause, variable(from))
	})
	var out strings.Builder
	for line := range strings.Lines(imports + text) {
		if strings.HasPrefix(line, "export ") {
			if m := exportLine.FindStringSubmatch(line); m != nil {
				exports, line = append(exports, m[1]), strings.TrimPrefix(line, "export ")
			} else if m := exportList.FindStringSubmatch(line); m != nil {
				exports = append(exports, strings.FieldsFunc(m[1], func(r rune) bool { return r == ',' || r == ' ' })...)
				line = exportList.ReplaceAllString(line, "")
			}
		}
		out.WriteString(line)
	}
	return out.String(), exports
}

// cutImports cuts a text behind its last import. A server links at each start: this keeps expressions off most of the text.
func cutImports(text string) (imports, rest string) {
	last := strings.LastIndex("\n"+text, "\nimport")
	if last < 0 {
		return "", text
	}
	end := strings.Index(text[last:], "\";")
	if end < 0 {
		return text, ""
	}
	end += last + len("\";")
	return text[:end], text[end:]
}

// unknown finds syntax in a rewritten text that cannot be linked: an import, export or await that begins a line, import.meta,
// and import() as an expression. In a comment, import() is a type.
func unknown(text string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "import") || strings.HasPrefix(line, "export") || strings.HasPrefix(line, "await") ||
			strings.Contains(line, "import.meta") {
			if found := notKnown.FindString(line); found != "" {
				return found
			}
		}
	}
	for at := 0; ; {
		i := strings.Index(text[at:], "import(")
		if i < 0 {
			return ""
		}
		before := strings.TrimRight(text[:at+i], " \t\r\n")
		for _, operator := range []string{"await", "return", "=", "=>"} {
			if strings.HasSuffix(before, operator) {
				return operator + " import("
			}
		}
		at += i + len("import(")
	}
}

// code gives the lines of a text that are neither empty nor nothing but a comment, without their indentation: this client has
// texts of several lines only in templates, where it means nothing.
func code(text string, source int) []outLine {
	var lines []outLine
	inside := false
	for row, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		begins := !inside && strings.HasPrefix(trimmed, "/*")
		if inside || begins {
			_, after, ends := strings.Cut(trimmed, "*/")
			inside = !ends
			if after == "" {
				continue
			}
		}
		if trimmed != "" && !strings.HasPrefix(trimmed, "//") {
			lines = append(lines, outLine{strings.TrimLeft(line, " "), source, row})
		}
	}
	return lines
}

// variable is what holds the exports of a module.
func variable(name string) string {
	return "module_" + strings.NewReplacer("/", "_", "-", "_", ".", "_").Replace(strings.TrimSuffix(strings.TrimPrefix(name, "js/"), ".js"))
}

func (l *linker) lines(of func(outLine) string) []string {
	var out []string
	for _, line := range append(slices.Clone(l.head), l.body...) {
		out = append(out, of(line))
	}
	return append(out, "")
}

// sourceMap writes a source map (ECMA-426) that leads each line to the line that it was.
func (l *linker) sourceMap() ([]byte, error) {
	source, row := 0, 0
	mappings := strings.Join(l.lines(func(line outLine) string {
		if line.row < 0 {
			return ""
		}
		segment := vlq(0) + vlq(line.source-source) + vlq(line.row-row) + vlq(0)
		source, row = line.source, line.row
		return segment
	}), ";")
	sources := make([]string, len(l.sources))
	for i, name := range l.sources {
		sources[i] = "/" + name
	}
	return json.Marshal(map[string]any{"version": 3, "sources": sources, "names": []string{}, "mappings": mappings})
}

// vlq is a number of a source map: base 64, five bits a digit, the least first, the sign in the lowest bit of all.
func vlq(n int) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	value := n << 1
	if n < 0 {
		value = -n<<1 | 1
	}
	var out []byte
	for {
		digit := value & 31
		value >>= 5
		if value > 0 {
			digit |= 32
		}
		out = append(out, digits[digit])
		if value == 0 {
			return string(out)
		}
	}
}
