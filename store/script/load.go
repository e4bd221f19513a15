package script

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Library is the scripts of a package and the names that they may use.
type Library struct {
	// Files holds a script `noun/verb` as lua/noun/verb.lua, and included files as lua/lib/name.lua.
	Files fs.FS
	// Shared are further texts that may be included, by their names: those of other packages.
	Shared map[string]string
	// Groups are the names of keys that come together, by the name of the group.
	Groups map[string][]string
	// Sharded rewrites the text of a script for a Redis Cluster. Nil: scripts are the same there.
	Sharded func(text string) string

	used []*Script
}

// Used returns the scripts that New, NewReader and NewFreeing have made.
func (l *Library) Used() []*Script { return l.used }

// New makes a script that works on a key set. Like the other two, it panics as Load does.
func New[K any](l *Library, name string, names Names[K]) *Step[K] {
	return use(l, l.Load(name, false), names)
}

// NewReader makes a script that the server runs as EVALSHA_RO.
func NewReader[K any](l *Library, name string, names Names[K]) *Step[K] {
	return use(l, l.Load(name, true), names)
}

// NewFreeing makes a script that runs even if the server's memory is full, because it frees memory or reading depends
// on it.
func NewFreeing[K any](l *Library, name string, names Names[K]) *Step[K] {
	return use(l, l.Load(name, false).WhenFull(), names)
}

func use[K any](l *Library, s *Script, names Names[K]) *Step[K] {
	l.used = append(l.used, s)
	if l.Sharded != nil {
		if text := l.Sharded(s.Text); text != s.Text {
			sharded := *s
			sharded.Text, sharded.SHA = text, hash(text)
			s.Sharded = &sharded
		}
	}
	return Bind(s, names)
}

// Script is one atomic step. A server knows it by the hash of its text.
type Script struct {
	Name     string
	Text     string
	SHA      string
	ReadOnly bool    // the server runs it as EVALSHA_RO: it is allowed in a transaction, and not written to a journal
	Sharded  *Script // the variant for a Redis Cluster; nil if it is the same

	keys, args section
	known      map[string]bool // names of keys that its key set fills in
}

// WhenFull returns the script as one that a server runs even if its memory is full: it frees memory, or adds hardly
// any.
func (s *Script) WhenFull() *Script {
	full := *s
	full.Text = "#!lua flags=allow-oom\n" + s.Text
	full.SHA = hash(full.Text)
	full.known = map[string]bool{}
	return &full
}

func hash(text string) string {
	sum := sha1.Sum([]byte(text)) // Redis identifies scripts by it; this has nothing to do with security
	return hex.EncodeToString(sum[:])
}

// Given returns the names that the caller sets in every call, and the rests that it may set.
func (s *Script) Given() []string {
	var names []string
	for _, section := range []section{s.keys, s.args} {
		for _, one := range section.slots {
			if !s.known[one.name] {
				names = append(names, one.name)
			}
		}
		for _, r := range section.rests {
			if !s.known[r.name] {
				names = append(names, r.name)
			}
		}
	}
	return names
}

// Load loads a script. It panics if the script is missing, or does not match what it declares: scripts are part of the
// binary, so every test of the package shows this.
func (l *Library) Load(name string, readOnly bool) *Script {
	s, err := l.load(name)
	if err != nil {
		panic(fmt.Sprintf("script %s: %v", name, err)) //nolint:forbidigo // the binary was built from a broken tree
	}
	s.ReadOnly = readOnly
	return s
}

func (l *Library) load(name string) (*Script, error) {
	source, err := fs.ReadFile(l.Files, "lua/"+name+".lua")
	if err != nil {
		return nil, err
	}
	h, err := l.parseHeader(string(source))
	if err != nil {
		return nil, err
	}
	e := expander{library: l, header: h}
	e.out.WriteString(h.keys.prologue() + h.args.prologue())
	if err := e.expand(string(source), map[string]bool{}, ""); err != nil {
		return nil, err
	}
	return newScript(name, e.out.String(), h), nil
}

func newScript(name, text string, h header) *Script {
	return &Script{Name: name, Text: text, SHA: hash(text), keys: h.keys, args: h.args, known: map[string]bool{}}
}

// Render returns what other scripts may include from a library: lua/lib/name.lua with everything that it includes.
func (l *Library) Render(name string) string {
	e := expander{library: l}
	if err := e.include(name, map[string]bool{}, ""); err != nil {
		panic(fmt.Sprintf("script %s: %v", name, err)) //nolint:forbidigo // the binary was built from a broken tree
	}
	return e.out.String()
}

var (
	includeLine = directive{"-- include: ", regexp.MustCompile(`^( *)-- include: (\S+)$`)}
	needsLine   = directive{"-- needs: ", regexp.MustCompile(`^-- needs: (.+)$`)}
	bindLine    = directive{" at ", regexp.MustCompile(`^( *)-- (bind|set): ([a-z_]+) at (.+)$`)}
	// numbered finds literal indexes into KEYS or ARGV.
	numbered = regexp.MustCompile(`(?:KEYS|ARGV) *\[(\w*)[^\]]*\d|unpack\((?:KEYS|ARGV) *, *\d|#(?:KEYS|ARGV) *[-+<>=~*/] *=?\d`)
	rowLoop  = regexp.MustCompile(`\bfor \w+ = (\w+), #(?:KEYS|ARGV)(?:, (\w+))? do`)
)

// directive is a comment that the loader acts on.
type directive struct {
	holds string // a text that every such line contains: searching for it is cheap
	line  *regexp.Regexp
}

func (d directive) match(line string) []string {
	if !strings.Contains(line, d.holds) {
		return nil
	}
	return d.line.FindStringSubmatch(line)
}

// expander writes the text of a script as the server gets it.
type expander struct {
	library *Library
	header  header
	out     strings.Builder
}

// expand writes source with its includes. done are the names of the files included so far: a file that is included
// inside a block is known only to the rest of that block, like its locals.
func (e *expander) expand(source string, done map[string]bool, indent string) error {
	type block struct {
		indent int
		done   map[string]bool
	}
	blocks := []block{{0, done}}
	for line := range strings.Lines(source) {
		line = strings.TrimSuffix(line, "\n")
		at := len(line) - len(strings.TrimLeft(line, " "))
		for line != "" && at < blocks[len(blocks)-1].indent {
			blocks = blocks[:len(blocks)-1]
		}
		// Thousands of lines are loaded at every start: only those that may match are checked with a regular
		// expression.
		if found := includeLine.match(line); found != nil {
			if at > blocks[len(blocks)-1].indent {
				blocks = append(blocks, block{at, maps.Clone(blocks[len(blocks)-1].done)})
			}
			if err := e.include(found[2], blocks[len(blocks)-1].done, indent+found[1]); err != nil {
				return err
			}
			continue
		}
		if found := needsLine.match(line); found != nil {
			for _, name := range strings.Fields(found[1]) {
				if !e.bound(name) {
					return fmt.Errorf("%s is needed and not bound: declare it in the header, or as a local in front of the include", name)
				}
			}
		}
		line, err := e.line(line)
		if err != nil {
			return err
		}
		if line != "" {
			line = indent + line
		}
		e.out.WriteString(line + "\n")
	}
	return nil
}

func (e *expander) include(name string, done map[string]bool, indent string) error {
	if done[name] {
		return nil
	}
	done[name] = true
	if text, ok := e.library.Shared[name]; ok {
		for line := range strings.Lines(text) {
			e.out.WriteString(indent + line)
		}
		return nil
	}
	text, err := fs.ReadFile(e.library.Files, "lua/lib/"+name+".lua")
	if err != nil {
		return err
	}
	if err := e.expand(string(text), done, indent); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// line checks one line, and writes it with its bindings.
func (e *expander) line(line string) (string, error) {
	code, _, _ := strings.Cut(line, "--")
	if strings.Contains(code, "KEYS") || strings.Contains(code, "ARGV") {
		if err := e.uncounted(line, code); err != nil {
			return "", err
		}
	}
	found := bindLine.match(line)
	if found == nil {
		return line, nil
	}
	names, table := e.row(found[3])
	if of := e.library.Groups[found[3]]; of != nil {
		names, table = of, "KEYS"
	}
	if names == nil {
		return "", fmt.Errorf("%s is neither a group of keys nor a rest in rows", found[3])
	}
	values := make([]string, len(names))
	for i := range names {
		values[i] = fmt.Sprintf("%s[%s + %d]", table, found[4], i)
	}
	values[0] = fmt.Sprintf("%s[%s]", table, found[4])
	local := "local "
	if found[2] == "set" {
		local = ""
	}
	return fmt.Sprintf("%s%s%s = %s", found[1], local, strings.Join(names, ", "), strings.Join(values, ", ")), nil
}

// uncounted refuses a line of code that uses literal indexes into keys or arguments.
func (e *expander) uncounted(line, code string) error {
	for _, found := range numbered.FindAllStringSubmatch(code, -1) {
		// Relative to a rest without rows it is a list index like any other.
		if row, table := e.row(found[1]); table == "" || row != nil {
			return fmt.Errorf("%q counts keys or arguments: give them names", strings.TrimSpace(line))
		}
	}
	if found := rowLoop.FindStringSubmatch(code); found != nil {
		if row, _ := e.row(found[1]); row != nil && found[2] != found[1]+"_row" {
			return fmt.Errorf("%q does not go in steps of %s_row", strings.TrimSpace(line), found[1])
		}
	}
	return nil
}

// row returns the names of a row of the given rest, and whether it belongs to KEYS or ARGV; nil if it has none.
func (e *expander) row(name string) (row []string, table string) {
	for _, s := range []section{e.header.keys, e.header.args} {
		for _, r := range s.rests {
			if r.name == name {
				return r.row, s.table
			}
		}
	}
	return nil, ""
}

// bound reports whether a name is bound at the end of the text so far.
func (e *expander) bound(name string) bool {
	if slices.Contains(e.header.keys.names(), name) || slices.Contains(e.header.args.names(), name) {
		return true
	}
	for line := range strings.Lines(e.out.String()) {
		names, found := strings.CutPrefix(strings.TrimLeft(line, " "), "local ")
		if !found {
			continue
		}
		names, _, _ = strings.Cut(strings.TrimPrefix(names, "function "), " =")
		for one := range strings.SplitSeq(names, ", ") {
			after := strings.TrimLeft(one, wordRunes)
			if one[:len(one)-len(after)] == name {
				return true
			}
			if after != "" {
				break // the parameters of a function, or a comment
			}
		}
	}
	return false
}

// wordRunes are the characters of names.
const wordRunes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
