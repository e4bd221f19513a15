package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// words are what is looked for, and what each means for a message.
type words struct{ actions map[string]string }

const mask = "mask"

// readWords reads a list. Empty lines and those that begin with # are passed over. No file: no words.
func readWords(file string) (*words, error) {
	w := &words{actions: map[string]string{}}
	if file == "" {
		return w, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	line := 0
	for one := range strings.Lines(string(text)) {
		line++
		fields := strings.Fields(one)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) != 2 || !slices.Contains([]string{refuse, review, mask}, fields[0]) {
			return nil, fmt.Errorf("%s:%d: got %q, want refuse, review or mask, and one word", file, line, strings.TrimSpace(one))
		}
		w.actions[fold(fields[1])] = fields[0]
	}
	return w, nil
}

// fold makes words alike that people read alike, as far as Unicode knows.
func fold(word string) string { return cases.Fold().String(norm.NFKC.String(word)) }

// decide looks at whole words. What is to be masked cannot be so in data, which is refused then.
func (w *words) decide(body, data string) answer {
	found := map[string]bool{}
	masked := w.look(body, found)
	inData := map[string]bool{}
	w.look(data, inData)
	if inData[mask] {
		found[refuse] = true
	}
	maps.Copy(found, inData)
	switch {
	case found[refuse]:
		return answer{Action: refuse, Reason: "it has a word in it that is not allowed here"}
	case found[review]:
		return answer{Action: review, Reason: "it has a word in it that moderators look at"}
	case masked != body:
		return answer{Action: rewrite, Body: masked}
	}
	return answer{Action: allow}
}

// look notes the actions of the words of a text, and returns it with a * for each letter of those to be masked.
func (w *words) look(text string, found map[string]bool) string {
	var out strings.Builder
	for len(text) > 0 {
		first, _ := utf8.DecodeRuneInString(text)
		inside := isOfWord(first)
		end := strings.IndexFunc(text, func(r rune) bool { return isOfWord(r) != inside })
		if end < 0 {
			end = len(text)
		}
		part := text[:end]
		text = text[end:]
		action := w.actions[fold(part)]
		found[action] = true
		if action == mask {
			part = strings.Repeat("*", utf8.RuneCountInString(part))
		}
		out.WriteString(part)
	}
	return out.String()
}

func isOfWord(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N) }
