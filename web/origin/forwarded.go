package origin

import (
	"net/http"
	"strings"
)

// first returns the first element of a list in a header: each proxy appends to what it got, so this is what the one
// nearest to the client says.
func first(h http.Header, name string) string {
	for _, line := range h[name] {
		for one := range strings.SplitSeq(line, ",") {
			if one = strings.TrimSpace(one); one != "" {
				return one
			}
		}
	}
	return ""
}

// forwarded parses the header Forwarded (RFC 7239): the protocol and the host that the proxy nearest to the client names.
func forwarded(h http.Header) (proto, host string) {
	for rest := strings.Join(h["Forwarded"], ","); rest != "" && (proto == "" || host == ""); {
		var pair string
		pair, rest = cutPair(rest)
		name, value, _ := strings.Cut(pair, "=")
		switch name = strings.TrimSpace(name); {
		case proto == "" && strings.EqualFold(name, "proto"):
			proto = unquoted(value)
		case host == "" && strings.EqualFold(name, "host"):
			host = unquoted(value)
		}
	}
	return proto, host
}

// cutPair cuts off the first pair of a name and a value. They end with a semicolon, or with a comma where the next proxy's
// begin, but for those inside of quotes.
func cutPair(text string) (pair, rest string) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && (c == ';' || c == ','):
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}

// unquoted returns a token or the content of a quoted string.
func unquoted(value string) string {
	value = strings.TrimSpace(value)
	inner, isQuoted := strings.CutPrefix(value, `"`)
	if !isQuoted {
		return value
	}
	var out strings.Builder
	for i := 0; i < len(inner) && inner[i] != '"'; i++ {
		if inner[i] == '\\' && i+1 < len(inner) {
			i++
		}
		out.WriteByte(inner[i])
	}
	return out.String()
}
