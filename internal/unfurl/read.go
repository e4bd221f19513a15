package unfurl

import (
	"cmp"
	"io"
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/chatd/chatd/chat/previews"
	"github.com/chatd/chatd/internal/egress"
)

// Bounds of what is kept, in letters.
const (
	titleMax       = 200
	descriptionMax = 400
	siteMax        = 80
)

// read reads the head of a page.
func read(page io.Reader, at *url.URL) previews.Preview {
	var title string
	said := map[string]string{}
	tokens := html.NewTokenizer(page)
	tokens.SetMaxBuf(pageBytesMax)
	for inTitle := false; ; {
		switch tokens.Next() {
		case html.ErrorToken:
			return preview(title, said, at)
		case html.TextToken:
			if inTitle && title == "" {
				title = string(tokens.Text())
			}
		case html.EndTagToken:
			inTitle = false
			if name, _ := tokens.TagName(); atom.Lookup(name) == atom.Head {
				return preview(title, said, at)
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := tokens.TagName()
			switch tag := atom.Lookup(name); {
			case tag == atom.Body:
				return preview(title, said, at)
			case tag == atom.Meta && more:
				note(said, tokens)
			default:
				inTitle = tag == atom.Title
			}
		}
	}
}

// note keeps what a meta element says, if it is the first of its name.
func note(said map[string]string, tokens *html.Tokenizer) {
	var name, content string
	for more := true; more; {
		var key, value []byte
		key, value, more = tokens.TagAttr()
		switch string(key) {
		case "property", "name":
			name = cmp.Or(name, strings.ToLower(strings.TrimSpace(string(value))))
		case "content":
			content = string(value)
		}
	}
	switch name {
	case "og:title", "og:description", "og:site_name", "og:image", "og:image:secure_url", "description":
		said[name] = cmp.Or(said[name], content)
	}
}

func preview(title string, said map[string]string, at *url.URL) previews.Preview {
	return previews.Preview{
		Title:       cmp.Or(plain(said["og:title"], titleMax), plain(title, titleMax)),
		Description: cmp.Or(plain(said["og:description"], descriptionMax), plain(said["description"], descriptionMax)),
		Site:        plain(said["og:site_name"], siteMax),
		Image:       cmp.Or(image(said["og:image:secure_url"], at), image(said["og:image"], at)),
	}
}

// plain makes one line of a text, without letters that are not seen or turn the direction of others, and cuts it.
func plain(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == unicode.ReplacementChar, unicode.Is(unicode.Cf, r) && r != '\u200d', unicode.Is(unicode.Co, r):
			return -1
		case unicode.IsControl(r), unicode.IsSpace(r), r == '\u2028', r == '\u2029':
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	text = strings.Join(strings.Fields(text), " ")
	letters := 0
	for i := range text {
		if letters++; letters > most {
			return strings.TrimSpace(text[:i]) + "…"
		}
	}
	return text
}

// image is the address of a picture, if everybody may reach it by https.
func image(text string, at *url.URL) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	u, err := at.Parse(text)
	if err != nil || u.Scheme != "https" {
		return ""
	}
	u.Fragment, u.RawFragment = "", ""
	if _, err := egress.CheckURL(u.String(), nil); err != nil {
		return ""
	}
	return u.String()
}
