package profiles

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/chatd/chatd/chat"
)

// Of names the users whose profiles go with messages: who wrote them and who is mentioned in them, each once, in order.
func Of(messages ...chat.Message) []string {
	people := map[string]struct{}{}
	for i := range messages {
		from, mentions := peopleOf(messages[i].JSON)
		if chat.ValidUserID(from) {
			people[from] = struct{}{}
		}
		for _, user := range mentions {
			if user != chat.MentionAll {
				people[user] = struct{}{}
			}
		}
	}
	return slices.Sorted(maps.Keys(people))
}

// From names who wrote items of an inbox, each once, in order.
func From(items ...chat.StoredItem) []string {
	people := map[string]struct{}{}
	for i := range items {
		if from := fromOf(items[i].JSON); chat.ValidUserID(from) {
			people[from] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(people))
}

// fromOf reads who wrote an item, which is `{"seq":7,"kind":"direct","from":"alice"` and so on; empty: nobody.
func fromOf(item []byte) string {
	_, rest, _ := bytes.Cut(item, kindField)
	_, rest, _ = bytes.Cut(rest, []byte{'"'})
	rest, ok := bytes.CutPrefix(rest, fromField)
	if from, _, ended := bytes.Cut(rest, []byte{'"'}); ok && ended {
		return string(from)
	}
	return ""
}

var (
	kindField     = []byte(`,"kind":"`)
	fromField     = []byte(`,"from":"`)
	mentionsField = []byte(`,"mentions":[`)
)

// peopleOf reads who wrote an entry and who is mentioned in it. Nearly all entries mention nobody: of these only the beginning is read, which is
// `{"id":7,"group":"g","from":"alice"`. No id needs an escape.
func peopleOf(entry []byte) (from string, mentions []string) {
	if !bytes.Contains(entry, mentionsField) {
		if at := bytes.Index(entry, fromField); at >= 0 {
			rest := entry[at+len(fromField):]
			if end := bytes.IndexByte(rest, '"'); end >= 0 {
				return string(rest[:end]), nil
			}
		}
	}
	var e struct {
		From     string   `json:"from"`
		Mentions []string `json:"mentions"`
	}
	if json.Unmarshal(entry, &e) != nil {
		return "", nil
	}
	return e.From, e.Mentions
}
