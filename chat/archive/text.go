package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/chatd/chatd/chat"
)

// Text is what a search finds of an entry: the body, then the strings and numbers of the data, each on a line. Names of
// fields are not content. It is empty if the entry is not a text or data, or is deleted.
func Text(e chat.Entry) string {
	if e.Kind != chat.Text && e.Kind != chat.Data || e.DeletedAt != nil {
		return ""
	}
	var b strings.Builder
	if e.Body != nil {
		b.WriteString(*e.Body)
	}
	if e.Data != nil {
		values(&b, e.Data)
	}
	return b.String()
}

// values writes the strings and numbers of a JSON value, which was checked when it was sent.
func values(b *strings.Builder, data []byte) {
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	var objects []bool // of each level that is open: it is an object, else an array
	name := false      // the next string is the name of a field
	for {
		token, err := in.Token()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				b.WriteString("\n" + string(data)) // no JSON: it is text
			}
			return
		}
		inObject := len(objects) > 0 && objects[len(objects)-1]
		switch token := token.(type) {
		case json.Delim:
			switch token {
			case '{', '[':
				objects = append(objects, token == '{')
			default:
				objects = objects[:len(objects)-1]
			}
			name = len(objects) > 0 && objects[len(objects)-1]
			continue
		case string:
			if inObject && name {
				name = false
				continue
			}
			line(b, token)
		case json.Number:
			line(b, token.String())
		}
		name = inObject
	}
}

func line(b *strings.Builder, text string) {
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(text)
}
