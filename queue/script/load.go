package script

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Library is the scripts of a package and the names that they may use. Its methods are not safe for concurrent use; the
// scripts that it has made are.
type Library struct {
	// Files holds a script `noun/verb` as lua/noun/verb.lua, and included files as lua/lib/name.lua: below its root, or below
	// one of Folders.
	Files   fs.FS
	Folders []string
	// Shared are further texts that may be included, by their names: those of other packages.
	Shared map[string]string
	// Groups are the names of keys that come together, by the name of the group.
	Groups map[string][]string
	// InCluster are commands that have another name in a Redis Cluster, by the name elsewhere. Scripts call them by a local of
	// that name: redis.call(PUBLISH, channel, text).
	InCluster map[string]string

	used    []*Script
	mu      sync.Mutex        // for the rest, with which scripts are put together when they are first used
	sources map[string]source // what was read so far of lua/lib and Shared, by name
	out     bytes.Buffer      // the text of a script while it is made, but for its first lines
	whole   bytes.Buffer      // all of it
}

// Used returns the scripts that New, NewReader and NewFreeing have made.
func (l *Library) Used() []*Script { return l.used }

// New makes a script that works on a key set. Like the other two, it panics as Load does.
func New[K any](l *Library, name string, names Names[K]) *Step[K] {
	return use(l, l.Load(name), names)
}

// NewReader makes a script that the server runs as EVALSHA_RO.
func NewReader[K any](l *Library, name string, names Names[K]) *Step[K] {
	s := l.Load(name)
	s.ReadOnly = true
	return use(l, s, names)
}

// NewFreeing makes a script that runs even if the server's memory is full, because it frees memory or reading depends
// on it.
func NewFreeing[K any](l *Library, name string, names Names[K]) *Step[K] {
	return use(l, l.Load(name, "allow-oom"), names)
}

func use[K any](l *Library, s *Script, names Names[K]) *Step[K] {
	l.used = append(l.used, s)
	step := Bind(s, names)
	s.sharded = sync.OnceValue(func() *Script {
		made := s.made()
		text := made.text
		for _, name := range made.commands {
			text = strings.Replace(text, command(name, name), command(name, l.InCluster[name]), 1)
		}
		if text == made.text {
			return s
		}
		sharded, other := *s, &whole{text: text, sha: hash([]byte(text))}
		sharded.made = func() *whole { return other }
		return &sharded
	})
	return step
}

// command is the line that binds a local to the name of a command.
func command(local, name string) string { return "local " + local + " = '" + name + "'\n" }

// Script is one atomic step. A server knows it by the hash of its text.
type Script struct {
	Name     string
	ReadOnly bool // the server runs it as EVALSHA_RO: it is allowed in a transaction, and not written to a journal

	keys, args section
	known      map[string]bool // names of keys that its key set fills in
	made       func() *whole   // puts it together, once
	sharded    func() *Script  // nil: it was loaded and not made by New
}

// whole is a script as a server gets it.
type whole struct {
	text, sha string
	commands  []string // of Library.InCluster, which its first lines bind
}

// Text returns what the server gets. The first call puts it together, and panics as Load does: most commands start, run
// and end without any script.
func (s *Script) Text() string { return s.made().text }

// SHA returns the hash of Text, in hexadecimal digits.
func (s *Script) SHA() string { return s.made().sha }

// ForCluster returns the variant of the script for a Redis Cluster, which is made when it is first asked for.
func (s *Script) ForCluster() *Script {
	if s.sharded == nil {
		return s
	}
	return s.sharded()
}

func hash(text []byte) string {
	sum := sha1.Sum(text) // Redis identifies scripts by it; this has nothing to do with security
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

// Load loads a script, which the server runs with these flags. It panics if the script is missing, or its header is wrong,
// and its Text if that does not match the header: scripts are part of the binary, so a test of each package that looks at
// all of its scripts shows this.
func (l *Library) Load(name string, flags ...string) *Script {
	text, err := l.text(name)
	broken(name, err)
	h, err := l.parseHeader(text)
	broken(name, err)
	return &Script{Name: name, keys: h.keys, args: h.args, known: map[string]bool{}, made: sync.OnceValue(func() *whole {
		made, err := l.expand(text, h, flags)
		broken(name, err)
		return made
	})}
}

func broken(name string, err error) {
	if err != nil {
		panic(fmt.Sprintf("script %s: %v", name, err)) //nolint:forbidigo // the binary was built from a broken tree
	}
}

// expand puts a script together.
func (l *Library) expand(text string, h header, flags []string) (*whole, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := newExpander(l, h)
	if err := e.expand(divide(text), map[string]bool{}, ""); err != nil {
		return nil, err
	}
	made := &whole{}
	// A server puts hundreds of scripts together at its start: each is copied once.
	l.whole.Reset()
	if len(flags) > 0 {
		l.whole.WriteString("#!lua flags=" + strings.Join(flags, ",") + "\n")
	}
	for _, name := range slices.Sorted(maps.Keys(l.InCluster)) {
		if bytes.Contains(l.out.Bytes(), []byte("call("+name+", ")) {
			made.commands = append(made.commands, name)
			l.whole.WriteString(command(name, name))
		}
	}
	l.whole.WriteString(h.keys.prologue() + h.args.prologue())
	l.whole.Write(l.out.Bytes())
	made.sha, made.text = hash(l.whole.Bytes()), l.whole.String()
	return made, nil
}

// text returns the text of a file.
func (l *Library) text(name string) (string, error) {
	name = "lua/" + name + ".lua"
	text, err := fs.ReadFile(l.Files, name)
	for i := 0; errors.Is(err, fs.ErrNotExist) && i < len(l.Folders); i++ {
		text, err = fs.ReadFile(l.Files, l.Folders[i]+"/"+name)
	}
	return string(text), err
}

// Render returns what other scripts may include from a library: lua/lib/name.lua with everything that it includes.
func (l *Library) Render(name string) string {
	e := newExpander(l, header{})
	if err := e.include(name, map[string]bool{}, ""); err != nil {
		panic(fmt.Sprintf("script %s: %v", name, err)) //nolint:forbidigo // the binary was built from a broken tree
	}
	return e.out.String()
}

// expander writes the text of a script as the server gets it.
type expander struct {
	library *Library
	header  header
	out     *bytes.Buffer
	bound   map[string]bool // the names that the text so far binds
}

func newExpander(l *Library, h header) *expander {
	l.out.Reset()
	e := &expander{library: l, header: h, out: &l.out, bound: map[string]bool{}}
	e.binds(h.keys.names())
	e.binds(h.args.names())
	return e
}

func (e *expander) binds(names []string) {
	for _, name := range names {
		e.bound[name] = true
	}
}

// expand writes s with its includes. done are the names of the files included so far: a file that is included inside a
// block is known only to the rest of that block, like its locals.
func (e *expander) expand(s source, done map[string]bool, indent string) error {
	type block struct {
		indent int
		done   map[string]bool
	}
	blocks := []block{{0, done}}
	for i := range s {
		p := &s[i]
		if of := p.of; of != nil {
			for of.lowest < blocks[len(blocks)-1].indent {
				blocks = blocks[:len(blocks)-1]
			}
			if at := len(of.indent); at > blocks[len(blocks)-1].indent {
				blocks = append(blocks, block{at, maps.Clone(blocks[len(blocks)-1].done)})
			}
			if err := e.include(of.name, blocks[len(blocks)-1].done, indent+of.indent); err != nil {
				return err
			}
		} else if err := e.act(p, indent); err != nil {
			return err
		}
		e.write(p.text, indent)
		e.binds(p.locals)
	}
	return nil
}

func (e *expander) include(name string, done map[string]bool, indent string) error {
	if done[name] {
		return nil
	}
	done[name] = true
	s, err := e.library.read(name)
	if err != nil {
		return err
	}
	if err := e.expand(s, done, indent); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// write writes lines, each with this indent.
func (e *expander) write(text, indent string) {
	if indent == "" {
		e.out.WriteString(text)
		return
	}
	for line := range strings.Lines(text) {
		if line != "\n" {
			e.out.WriteString(indent)
		}
		e.out.WriteString(line)
	}
}

// act checks the first line of a piece, or writes what it stands for.
func (e *expander) act(p *piece, indent string) error {
	for _, name := range p.needs {
		if !e.bound[name] {
			return fmt.Errorf("%s is needed and not bound: declare it in the header, or as a local in front of the include", name)
		}
	}
	for _, name := range p.counts {
		// Relative to a rest without rows it is a list index like any other.
		if row, table := e.row(name); table == "" || row != nil {
			return fmt.Errorf("%q counts keys or arguments: give them names", strings.TrimSpace(p.line))
		}
	}
	if p.loop != nil {
		if row, _ := e.row(p.loop[1]); row != nil && p.loop[2] != p.loop[1]+"_row" {
			return fmt.Errorf("%q does not go in steps of %s_row", strings.TrimSpace(p.line), p.loop[1])
		}
	}
	if p.bind != nil {
		return e.bind(p.bind, indent)
	}
	return nil
}

// bind writes what a bind or set line stands for.
func (e *expander) bind(found []string, indent string) error {
	names, table := e.row(found[3])
	if of := e.library.Groups[found[3]]; of != nil {
		names, table = of, "KEYS"
	}
	if names == nil {
		return fmt.Errorf("%s is neither a group of keys nor a rest in rows", found[3])
	}
	values := make([]string, len(names))
	for i := range names {
		values[i] = fmt.Sprintf("%s[%s + %d]", table, found[4], i)
	}
	values[0] = fmt.Sprintf("%s[%s]", table, found[4])
	local := ""
	if found[2] == "bind" {
		local = "local "
		e.binds(names)
	}
	fmt.Fprintf(e.out, "%s%s%s%s = %s\n", indent, found[1], local, strings.Join(names, ", "), strings.Join(values, ", "))
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
