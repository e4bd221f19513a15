package web

import (
	"context"
	"strings"

	"github.com/chatd/chatd/chat"
)

// ifMatch is what a request asks of the tag of what it changes, by its header If-Match (RFC 9110, 13.1.1); nil without the header.
// The header is `*`, which any tag matches, or a list of tags. A weak one matches nothing: tags are compared strongly.
func ifMatch(header *string) (func(tag string) bool, error) {
	if header == nil {
		return nil, nil
	}
	rest := strings.Trim(*header, " \t")
	if rest == "*" {
		return func(string) bool { return true }, nil
	}
	strong := map[string]bool{}
	for rest != "" {
		if rest[0] == ',' || rest[0] == ' ' || rest[0] == '\t' { // a list may have empty elements: RFC 9110, 5.6.1
			rest = rest[1:]
			continue
		}
		quoted, weak := strings.CutPrefix(rest, "W/")
		end := opaqueTag(quoted)
		if end == 0 {
			return nil, errIfMatch
		}
		if !weak {
			strong[quoted[:end]] = true
		}
		if rest = strings.TrimLeft(quoted[end:], " \t"); rest != "" && rest[0] != ',' {
			return nil, errIfMatch
		}
	}
	return func(tag string) bool { return strong[tag] }, nil
}

var errIfMatch = chat.Errorf(chat.CodeInvalid, `If-Match: want * or a list of entity tags, each in double quotes`)

// opaqueTag is the length of the tag in quotes that text begins with; 0: none.
func opaqueTag(text string) int {
	if text == "" || text[0] != '"' {
		return 0
	}
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return i + 1
		case c <= ' ' || c == 0x7f:
			return 0
		}
	}
	return 0
}

// answerTag has the answer of a call carry the tag of what it shows. Such an answer is not compressed: see compressAnswers.
func answerTag(ctx context.Context, tag string) { callOf(ctx).header.Set("ETag", tag) }
