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
	links     = regexp.MustCompile(`https?://[^\s<>"\x00-\x1f]+`)
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

func linksIn(text string) (found []string) {
	for _, link := range links.FindAllString(text, linksMessage) {
		if link = trimmed(link); len(link) <= linkBytesMax && len(link) > len("https://") {
			found = append(found, link)
		}
	}
	return found
}

// trimmed takes from a link what ends the sentence around it. A bracket stays if the link opens it.
func trimmed(link string) string {
	for {
		short := strings.TrimRight(link, ".,;:!?'*_~`]}’”。，！？、）》」")
		if strings.HasSuffix(short, ")") && strings.Count(short, ")") > strings.Count(short, "(") {
			short = strings.TrimSuffix(short, ")")
		}
		if short == link {
			return link
		}
		link = short
	}
}
