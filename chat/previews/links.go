package previews

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/chatd/chatd/chat"
)

// Bounds of the links that are looked at.
const (
	linksMessage = 3  // the first of a message
	linksPage    = 50 // of an answer
	linkBytesMax = 2048
)

var (
	links     = regexp.MustCompile(`https?://[^\s\pZ\x{feff}<>"\x00-\x1f\x7f]+`)
	mayLink   = []byte(`http`)
	bodyField = []byte(`"body":"`)
)

// Links are the links in the texts of messages, each once, as they are written. Of a text that is still being written there are none: its
// last link may be half of one.
func Links(messages []chat.Message) []string {
	var found []string
	for i := range messages {
		entry := messages[i].JSON
		if !bytes.Contains(entry, mayLink) || !bytes.Contains(entry, bodyField) {
			continue
		}
		var e struct {
			Body   string      `json:"body"`
			Stream chat.Stream `json:"stream"`
		}
		if json.Unmarshal(entry, &e) != nil || e.Stream == chat.StreamOpen {
			continue
		}
		for _, link := range linksIn(e.Body) {
			if len(found) == linksPage {
				return found
			}
			if !slices.Contains(found, link) {
				found = append(found, link)
			}
		}
	}
	return found
}

// linksIn are the first links of a text. One in angle brackets is only a link: its author wants no preview.
func linksIn(text string) (found []string) {
	for _, at := range links.FindAllStringIndex(text, linksMessage) {
		if at[0] > 0 && text[at[0]-1] == '<' && at[1] < len(text) && text[at[1]] == '>' {
			continue
		}
		if link := trimmed(text[at[0]:at[1]]); len(link) <= linkBytesMax && len(link) > len("https://") {
			found = append(found, link)
		}
	}
	return found
}

// trimmed takes from a link what ends the sentence around it. A bracket stays if the link opens it. It looks at each letter twice at most.
func trimmed(link string) string {
	closed := strings.Count(link, ")") - strings.Count(link, "(") // more than are open
	for {
		short := strings.TrimRight(link, ".,;:!?'*_~`]}’”。，！？、）》」")
		if strings.HasSuffix(short, ")") && closed > 0 {
			short = strings.TrimSuffix(short, ")")
			closed--
		}
		if short == link {
			return link
		}
		link = short
	}
}
