package store

import (
	"errors"
	"strconv"
	"strings"

	"github.com/chatd/chatd/chat"
)

// A stored message is `<id> <mark> <edits> <json>`, the member of the ZSET of messages. It begins with its id so that
// two equal bodies are two members. edits are the ids of its edit entries joined by commas, `-` where there are none,
// and `x` for what cannot be edited, deleted or reacted to: a deleted message, and every entry that is no text or data.
const (
	noEdits  = "-"
	noTarget = "x"
)

var errNoMessage = errors.New("not a stored message")

// decodeMessage parses a stored message. It copies the mark out of member: positions keep marks for long, which would
// otherwise keep the whole message in memory.
func decodeMessage(member string) (chat.Message, error) {
	head, rest, ok := strings.Cut(member, " ")
	if !ok {
		return chat.Message{}, errNoMessage
	}
	id, err := strconv.ParseInt(head, 10, 64)
	if err != nil || id < 1 || head[0] == '+' || head[0] == '0' {
		return chat.Message{}, errNoMessage
	}
	mark, rest, ok := strings.Cut(rest, " ")
	if !ok || mark == "" {
		return chat.Message{}, errNoMessage
	}
	flag, rest, ok := strings.Cut(rest, " ")
	if !ok {
		return chat.Message{}, errNoMessage
	}
	m := chat.Message{ID: id, Mark: strings.Clone(mark), JSON: []byte(rest)}
	if m.Edits, err = decodeEdits(flag); err != nil {
		return chat.Message{}, err
	}
	// {"id":<id> is followed by more fields or by the end; the id in the JSON is the one in front.
	tail, ok := strings.CutPrefix(rest, `{"id":`+head)
	if !ok || tail == "" || tail[0] != ',' && tail[0] != '}' || tail[len(tail)-1] != '}' {
		return chat.Message{}, errNoMessage
	}
	return m, nil
}

func decodeEdits(flag string) ([]int64, error) {
	switch flag {
	case noEdits, noTarget:
		return nil, nil
	}
	parts := strings.Split(flag, ",")
	edits := make([]int64, len(parts))
	for i, part := range parts {
		id, err := strconv.ParseInt(part, 10, 64)
		if err != nil || id < 1 {
			return nil, errNoMessage
		}
		edits[i] = id
	}
	return edits, nil
}

// encodeEdits is the inverse of decodeEdits for what may still be edited.
func encodeEdits(edits []int64) string {
	if len(edits) == 0 {
		return noEdits
	}
	var b strings.Builder
	for i, id := range edits {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(id, 10))
	}
	return b.String()
}
