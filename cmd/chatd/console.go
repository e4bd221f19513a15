package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// console is where a talk reads and writes lines. Its reader ends with the process: a read of the standard input cannot be
// interrupted.
type console struct {
	out      io.Writer
	lines    chan string              // what was typed; closed at the end of the input
	complete func(line string) string // the line with what tab adds
	terminal *term.Terminal           // nil: lines only
	asked    string                   // the prompt that is shown
	restore  func()
}

// openConsole uses the terminal, with editing of what is typed, or only reads and writes lines.
func openConsole(out io.Writer, plain bool, complete func(line string) string) (*console, error) {
	s := &console{out: out, lines: make(chan string), complete: complete, restore: func() {}}
	in := int(os.Stdin.Fd())
	if plain || os.Getenv("TERM") == "dumb" || !term.IsTerminal(in) || !isTerminal(out) {
		go s.scan(os.Stdin)
		return s, nil
	}
	was, err := term.MakeRaw(in)
	if err != nil {
		return nil, err
	}
	s.terminal = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{&keys{console: s}, out}, "")
	s.terminal.SetBracketedPasteMode(true)
	s.terminal.AutoCompleteCallback = s.tab
	s.restore = sync.OnceFunc(func() {
		s.terminal.SetBracketedPasteMode(false)
		_ = term.Restore(in, was)
	})
	s.fit()
	go s.edit()
	return s, nil
}

// keys is the keyboard. The editor takes each letter for one column, so that it loses its place beside 王: whatever key may have moved
// it draws the line anew then, before it waits for another one.
type keys struct {
	console     *console
	wide, moved bool
}

func (k *keys) Read(p []byte) (int, error) {
	if k.wide && k.moved {
		k.console.write("")
	}
	n, err := os.Stdin.Read(p)
	k.wide = k.wide || bytes.ContainsFunc(p[:n], func(r rune) bool { return r >= utf8.RuneSelf })
	k.moved = bytes.ContainsFunc(p[:n], unicode.IsControl)
	return n, err
}

// scan reads lines as they are.
func (s *console) scan(from io.Reader) {
	defer close(s.lines)
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, sendBytesMax)
	for lines.Scan() {
		s.lines <- lines.Text()
	}
}

// edit reads lines that are edited. What is pasted is one message, however many lines it has.
func (s *console) edit() {
	defer close(s.lines)
	pasted := ""
	for {
		line, err := s.terminal.ReadLine()
		switch {
		case errors.Is(err, term.ErrPasteIndicator):
			pasted += line + "\n"
		case err != nil: // ctrl-C, ctrl-D
			return
		default:
			s.lines <- pasted + line
			pasted = ""
		}
	}
}

func (s *console) tab(line string, pos int, key rune) (string, int, bool) {
	if key != '\t' || pos != len(line) {
		return "", 0, false
	}
	line = s.complete(line)
	return line, len(line), true
}

// fit follows the size of the window, which may have changed since the last line.
func (s *console) fit() {
	if width, height, err := term.GetSize(int(os.Stdin.Fd())); err == nil && width > 0 {
		_ = s.terminal.SetSize(width, height)
	}
}

// write writes lines, above the one that is being typed. What people wrote must be visible already.
func (s *console) write(lines string) {
	if s.terminal == nil {
		_, _ = io.WriteString(s.out, lines)
		return
	}
	s.fit()
	_, _ = io.WriteString(s.out, "\r") // the editor may take itself to be further left than it is
	_, _ = s.terminal.Write([]byte(lines))
}

// prompt changes what stands before the line that is being typed. Where lines are only read, there is none.
func (s *console) prompt(text string) {
	if s.terminal == nil || text == s.asked {
		return
	}
	s.asked = text
	s.terminal.SetPrompt(strings.ReplaceAll(text, "\n", " "))
	s.write("")
}

// close gives the terminal back.
func (s *console) close() { s.restore() }
