package script

import (
	"math"
	"regexp"
	"strings"
)

// source is a file divided into pieces, once: most files under lua/lib stand in many scripts.
type source []piece

// piece is at most one line that the loader acts on, and the lines after it, which it copies. What it does about the first
// depends on the script that includes the file.
type piece struct {
	line   string     // to act on
	of     *inclusion // if it is an include line
	needs  []string   // the names of a needs line
	bind   []string   // a bind or set line: all of it, its indent, the directive, the row or group, and where that begins
	counts []string   // a line of code with literal indexes into KEYS or ARGV: what each is relative to, "" for nothing
	loop   []string   // a line that loops over KEYS or ARGV: that part of it, where it begins, and its step

	text   string   // whole lines
	locals []string // names that text binds
}

// inclusion is an include line.
type inclusion struct {
	name, indent string
	lowest       int // the smallest indent of the lines since the last one, which ends the blocks that are deeper
}

var (
	includeLine = comment{"-- include: ", regexp.MustCompile(`^( *)-- include: (\S+)$`)}
	needsLine   = comment{"-- needs: ", regexp.MustCompile(`^-- needs: (.+)$`)}
	bindLine    = comment{"-- bind: ", regexp.MustCompile(`^( *)-- (bind): ([a-z_]+) at (.+)$`)}
	setLine     = comment{"-- set: ", regexp.MustCompile(`^( *)-- (set): ([a-z_]+) at (.+)$`)}
	// numbered finds literal indexes into KEYS or ARGV.
	numbered = regexp.MustCompile(`(?:KEYS|ARGV) *\[(\w*)[^\]]*\d|unpack\((?:KEYS|ARGV) *, *\d|#(?:KEYS|ARGV) *[-+<>=~*/] *=?\d`)
	rowLoop  = regexp.MustCompile(`\bfor \w+ = (\w+), #(?:KEYS|ARGV)(?:, (\w+))? do`)
)

// comment is a kind of comment that the loader acts on.
type comment struct {
	holds string // a text that every such line contains: searching for it is cheap
	line  *regexp.Regexp
}

func (d comment) match(line string) []string {
	if !strings.Contains(line, d.holds) {
		return nil
	}
	return d.line.FindStringSubmatch(line)
}

// read returns what stands under a name in lua/lib, or among the shared texts, divided.
func (l *Library) read(name string) (source, error) {
	if divided, ok := l.sources[name]; ok {
		return divided, nil
	}
	var divided source
	if text, ok := l.Shared[name]; ok { // the loader of its package has acted on its lines
		p := piece{text: text}
		for line := range strings.Lines(text) {
			p.locals = append(p.locals, localsOf(line)...)
		}
		divided = source{p}
	} else {
		text, err := l.text("lib/" + name)
		if err != nil {
			return nil, err
		}
		divided = divide(text)
	}
	if l.sources == nil {
		l.sources = map[string]source{}
	}
	l.sources[name] = divided
	return divided, nil
}

// divide divides a text.
func divide(text string) source {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	s := source{{}}
	begin, at := 0, 0 // of the text of the last piece, and of the line
	lowest := math.MaxInt
	for line := range strings.Lines(text) {
		end := at + len(line)
		if line = line[:len(line)-1]; line != "" {
			lowest = min(lowest, len(line)-len(strings.TrimLeft(line, " ")))
		}
		if p, copied := directive(line); p != nil {
			s, begin = append(s, *p), end
			if copied {
				begin = at
			}
			if p.of != nil {
				p.of.lowest, lowest = lowest, math.MaxInt
			}
		}
		if begin < end {
			last := &s[len(s)-1]
			last.text, last.locals = text[begin:end], append(last.locals, localsOf(line)...)
		}
		at = end
	}
	return s
}

// directive returns what a line means to the loader; nil: it is only copied. copied: it is copied as well.
func directive(line string) (p *piece, copied bool) {
	if found := includeLine.match(line); found != nil {
		return &piece{line: line, of: &inclusion{name: found[2], indent: found[1]}}, false
	}
	if found := needsLine.match(line); found != nil {
		return &piece{line: line, needs: strings.Fields(found[1])}, true
	}
	for _, kind := range []comment{bindLine, setLine} {
		if found := kind.match(line); found != nil {
			return &piece{line: line, bind: found}, false
		}
	}
	code, _, _ := strings.Cut(line, "--")
	if !strings.Contains(code, "KEYS") && !strings.Contains(code, "ARGV") {
		return nil, true
	}
	p = &piece{line: line}
	if strings.Contains(code, "for ") {
		p.loop = rowLoop.FindStringSubmatch(code)
	}
	if strings.ContainsAny(code, "0123456789") {
		for _, found := range numbered.FindAllStringSubmatch(code, -1) {
			p.counts = append(p.counts, found[1])
		}
	}
	if p.counts == nil && p.loop == nil {
		return nil, true
	}
	return p, true
}

// localsOf returns the names that a line binds.
func localsOf(line string) (bound []string) {
	names, found := strings.CutPrefix(strings.TrimLeft(line, " "), "local ")
	if !found {
		return nil
	}
	names, _, _ = strings.Cut(strings.TrimPrefix(names, "function "), " =")
	for one := range strings.SplitSeq(names, ", ") {
		after := strings.TrimLeft(one, wordRunes)
		bound = append(bound, one[:len(one)-len(after)])
		if after != "" {
			break // the parameters of a function, or a comment
		}
	}
	return bound
}

// wordRunes are the characters of names.
const wordRunes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
