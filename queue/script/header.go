package script

import (
	"fmt"
	"slices"
	"strings"
)

// kind is the Lua type of a value.
type kind string

const (
	text   kind = ""
	number kind = "int"
	flag   kind = "flag"
)

// slot is a single key or argument, which every call sets.
type slot struct {
	name string
	kind kind
}

// group is several slots under one name.
type group struct {
	name, of string
	at, n    int // the index of the first, from 0, and how many there are
}

// section is what the header declares for KEYS or ARGV.
type section struct {
	table  string // KEYS or ARGV
	slots  []slot
	groups []group
	rests  []rest
}

// rest is everything after the slots: any number of values, or of rows.
type rest struct {
	name string
	row  []string // the names of a row; nil: single values
	of   string   // the group whose keys make up a row, or empty
}

// header is what the comment at the top of a script declares.
type header struct{ keys, args section }

// How lines of the header begin: one that goes on with the declarations of the one before, and one that explains names.
const (
	continuation = "--      "
	explanation  = "--   "
)

// reserved are names of Lua, Redis or the loader, which a local must not shadow.
var reserved = strings.Fields("and break do else elseif end false for function if in local nil not or repeat return then true " +
	"until while ipairs math pairs redis select string table tonumber tostring type unpack")

// parseHeader parses the declarations at the top of a script.
func (l *Library) parseHeader(source string) (header, error) {
	declared := map[string]string{}
	table, explaining := "", false
	var explained []string
	for line := range strings.Lines(source) {
		line = strings.TrimRight(line, "\n")
		if !strings.HasPrefix(line, "--") {
			break
		}
		if names, ok := strings.CutPrefix(line, "-- KEYS  "); ok {
			table, explaining = "KEYS", true
			declared[table] = names
		} else if names, ok := strings.CutPrefix(line, "-- ARGV  "); ok {
			table, explaining = "ARGV", true
			declared[table] = names
		} else if more, ok := strings.CutPrefix(line, continuation); ok && strings.TrimLeft(more, " ") != "" {
			if table != "" {
				declared[table] += " " + strings.TrimLeft(more, " ")
			}
		} else if names := explains(line); names != "" && explaining {
			table, explained = "", append(explained, strings.FieldsFunc(names, notInName)...)
		} else {
			table, explaining = "", false
		}
	}
	taken := map[string]bool{}
	for _, name := range reserved {
		taken[name] = true
	}
	var h header
	var err error
	if h.keys, err = l.parseSection("KEYS", declared["KEYS"], taken); err != nil {
		return h, err
	}
	if h.args, err = l.parseSection("ARGV", declared["ARGV"], taken); err != nil {
		return h, err
	}
	for _, name := range explained {
		if !h.declares(name) {
			return h, fmt.Errorf("the header explains %s, which it does not declare", name)
		}
	}
	return h, nil
}

// explains returns what stands before two spaces in a line of the header, if that can be names.
func explains(line string) string {
	line, ok := strings.CutPrefix(line, explanation)
	names, _, more := strings.Cut(line, "  ")
	if !ok || !more || strings.Trim(names, nameRunes+", ") != "" {
		return ""
	}
	return names
}

// nameRunes are the characters of names in a header.
const nameRunes = "abcdefghijklmnopqrstuvwxyz0123456789_"

func notInName(r rune) bool { return r == ' ' || r == ',' }

func (h *header) declares(name string) bool {
	for _, s := range []section{h.keys, h.args} {
		if slices.Contains(s.names(), name) || slices.ContainsFunc(s.rests, func(r rest) bool {
			return r.name == name || slices.Contains(r.row, name)
		}) {
			return true
		}
	}
	return false
}

func (l *Library) parseSection(table, declared string, taken map[string]bool) (section, error) {
	s := section{table: table}
	for left := strings.TrimSpace(declared); left != ""; {
		t, rest, ok := nextToken(left)
		if !ok {
			return s, fmt.Errorf("%s: %q is no name", table, left)
		}
		left = rest
		if len(s.rests) > 0 && !t.more {
			return s, fmt.Errorf("%s: %s stands behind %s..., which takes what follows", table, t.word, s.rests[0].name)
		}
		if taken[t.name] {
			return s, fmt.Errorf("%s: %s is taken", table, t.name)
		}
		taken[t.name] = true
		if err := l.declare(&s, t); err != nil {
			return s, err
		}
	}
	return s, nil
}

// token is one declaration: a name with the part after its colon, the names of a row, and whether it takes the rest.
type token struct {
	word, name, colon, row string
	more                   bool
}

// nextToken splits off the first token.
func nextToken(left string) (t token, rest string, ok bool) {
	end := strings.IndexAny(left, " (")
	if end >= 0 && left[end] == '(' { // a row has spaces in it
		if last := strings.IndexByte(left, ')'); last < 0 {
			end = -1
		} else if end = strings.IndexByte(left[last:], ' '); end >= 0 {
			end += last
		}
	}
	if end < 0 {
		end = len(left)
	}
	t.word, rest = left[:end], strings.TrimLeft(left[end:], " ")
	if t.word == "|" {
		return t, rest, true
	}
	word, more := strings.CutSuffix(t.word, "...")
	word, t.row, ok = strings.Cut(word, "(")
	row, closed := strings.CutSuffix(t.row, ")")
	t.row, t.more = row, more
	var colon bool
	t.name, t.colon, colon = strings.Cut(word, ":")
	switch {
	case t.name == "", strings.Trim(t.name, nameRunes) != "", '0' <= t.name[0] && t.name[0] <= '9', t.name[0] == '_',
		colon && (t.colon == "" || strings.Trim(t.colon, "abcdefghijklmnopqrstuvwxyz") != ""),
		ok != closed, ok && (row == "" || strings.Trim(row, nameRunes+" ") != ""):
		return t, rest, false
	}
	return t, rest, true
}

// declare adds what a token declares.
func (l *Library) declare(s *section, t token) error {
	name, colon, row, more := t.name, t.colon, t.row, t.more
	names, grouped := l.Groups[colon]
	switch {
	case s.table == "KEYS" && colon != "" && !grouped:
		return fmt.Errorf("KEYS: there is no group %s", colon)
	case more && row == "" && (colon == "" || s.table == "KEYS"):
		s.rests = append(s.rests, rest{name, names, colon})
	case more && colon == "":
		s.rests = append(s.rests, rest{name: name, row: strings.Fields(row)})
	case more || row != "":
		return fmt.Errorf("%s: %s is no rest: want name..., name(a b)... or name:group and three dots", s.table, name)
	case s.table == "KEYS" && grouped:
		s.groups = append(s.groups, group{name, colon, len(s.slots), len(names)})
		for _, one := range names {
			s.slots = append(s.slots, slot{name: name + "." + one})
		}
	default:
		if k := kind(colon); k != text && k != number && k != flag {
			return fmt.Errorf("ARGV: %s is neither an int nor a flag", name)
		}
		s.slots = append(s.slots, slot{name, kind(colon)})
	}
	return nil
}

// names returns the locals that the prologue binds.
func (s *section) names() []string {
	var names []string
	for _, one := range s.slots {
		if !strings.Contains(one.name, ".") {
			names = append(names, one.name)
		}
	}
	for _, g := range s.groups {
		names = append(names, g.name)
	}
	for i, r := range s.rests {
		if i == 0 {
			names = append(names, r.name)
		}
		if r.row != nil {
			names = append(names, r.name+"_row")
		}
	}
	return names
}

// prologue binds the names of the section.
func (s *section) prologue() string {
	var b strings.Builder
	for from := 0; from < len(s.slots); {
		// Everything between two groups is bound at once.
		to := from
		var names []string
		for to < len(s.slots) && !strings.Contains(s.slots[to].name, ".") {
			names = append(names, s.slots[to].name)
			to++
		}
		if len(names) > 0 {
			fmt.Fprintf(&b, "local %s = unpack(%s, %d, %d)\n", strings.Join(names, ", "), s.table, from+1, to)
		}
		for to < len(s.slots) && strings.Contains(s.slots[to].name, ".") {
			to++
		}
		from = to
	}
	var left, right []string
	for _, one := range s.slots {
		switch one.kind {
		case number:
			left, right = append(left, one.name), append(right, "tonumber("+one.name+")")
		case flag:
			left, right = append(left, one.name), append(right, one.name+" == '1'")
		case text:
		}
	}
	if len(left) > 0 {
		fmt.Fprintf(&b, "%s = %s\n", strings.Join(left, ", "), strings.Join(right, ", "))
	}
	for _, g := range s.groups {
		fmt.Fprintf(&b, "local %s = %d\n", g.name, g.at+1)
	}
	for i, r := range s.rests {
		if i == 0 {
			fmt.Fprintf(&b, "local %s = %d\n", r.name, len(s.slots)+1)
		}
		if r.row != nil {
			fmt.Fprintf(&b, "local %s_row = %d\n", r.name, len(r.row))
		}
	}
	return b.String()
}
