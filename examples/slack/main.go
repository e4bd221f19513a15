// Command slack turns a channel of a Slack-like export into the lines that `chatd import -messages` reads.
//
//	go run ./examples/slack FOLDER CHANNEL > general.ndjson
//	chatd import -messages general.ndjson -group general -owner alice
//
// FOLDER is the unpacked export: users.json, and a folder for each channel with a JSON file for each day. Users keep their names
// there, as long as they are valid ids of chatd; bots are users of their names. Notices (joined, left, renamed) are left out; the names of shared files are
// kept in `data`, and the files are not.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: slack FOLDER CHANNEL")
		os.Exit(2)
	}
	if err := convert(os.Args[1], os.Args[2], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "slack:", err)
		os.Exit(1)
	}
}

// message is a message of the export, as far as it is carried over.
type message struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	User      string `json:"user"`
	Username  string `json:"username"` // of a bot
	BotID     string `json:"bot_id"`
	Text      string `json:"text"`
	TS        string `json:"ts"`
	ThreadTS  string `json:"thread_ts"`
	Reactions []struct {
		Name  string   `json:"name"`
		Users []string `json:"users"`
	} `json:"reactions"`
	Edited *struct {
		TS string `json:"ts"`
	} `json:"edited"`
	Files []struct {
		Name string `json:"name"`
	} `json:"files"`
}

// line is what chatd reads; see docs/history.md.
type line struct {
	ID        string              `json:"id"`
	From      string              `json:"from"`
	SentAt    time.Time           `json:"sent_at"`
	Body      string              `json:"body"`
	Data      any                 `json:"data,omitempty"`
	ReplyTo   string              `json:"reply_to,omitempty"`
	Mentions  []string            `json:"mentions,omitempty"`
	EditedAt  *time.Time          `json:"edited_at,omitempty"`
	Reactions map[string][]string `json:"reactions,omitempty"`
}

// convert writes the messages of a channel, oldest first. One day is in memory at a time.
func convert(folder, channel string, to io.Writer) error {
	names, err := userNames(folder)
	if err != nil {
		return err
	}
	days, err := filepath.Glob(filepath.Join(folder, channel, "*.json")) // YYYY-MM-DD.json, so their order is that of time
	if err != nil || len(days) == 0 {
		return errors.Join(err, fmt.Errorf("there is no channel %s in %s", channel, folder))
	}
	out := bufio.NewWriter(to)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	written := map[string]bool{}
	for _, day := range days {
		var messages []message
		if err := readJSON(day, &messages); err != nil {
			return err
		}
		slices.SortStableFunc(messages, func(a, b message) int { return cmp.Compare(a.TS, b.TS) })
		for _, m := range messages {
			l, ok, err := names.line(m)
			if err != nil {
				return fmt.Errorf("%s: message %s: %w", day, m.TS, err)
			}
			if !ok {
				continue
			}
			if !written[l.ReplyTo] {
				l.ReplyTo = "" // to a message that the export does not have
			}
			written[l.ID] = true
			if err := lines.Encode(l); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// names of users by their ids.
type names map[string]string

func userNames(folder string) (names, error) {
	var users []struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	err := readJSON(filepath.Join(folder, "users.json"), &users)
	found := names{}
	for _, u := range users {
		found[u.ID] = u.Name
	}
	return found, err
}

func readJSON(path string, into any) error {
	text, err := os.ReadFile(path)
	if err == nil {
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// carried are the subtypes that are messages of people and bots; the others are notices.
var carried = []string{"", "thread_broadcast", "me_message", "file_share", "bot_message"}

// line is a message as chatd reads it; ok is false for one that is left out.
func (n names) line(m message) (l line, ok bool, err error) {
	from := n.author(m)
	if m.Type != "message" || from == "" || !slices.Contains(carried, m.Subtype) {
		return l, false, nil
	}
	l = line{ID: m.TS, From: from}
	if l.SentAt, err = at(m.TS); err != nil {
		return l, false, err
	}
	l.Body, l.Mentions = n.text(m.Text)
	if m.ThreadTS != m.TS {
		l.ReplyTo = m.ThreadTS
	}
	if m.Edited != nil {
		edited, err := at(m.Edited.TS)
		if err != nil {
			return l, false, err
		}
		l.EditedAt = &edited
	}
	for _, r := range m.Reactions {
		if l.Reactions == nil {
			l.Reactions = map[string][]string{}
		}
		emoji := emojiOf(r.Name)
		for _, user := range r.Users {
			l.Reactions[emoji] = append(l.Reactions[emoji], n.of(user))
		}
	}
	var files []string
	for _, f := range m.Files {
		files = append(files, f.Name)
	}
	if len(files) > 0 {
		l.Data = map[string][]string{"files": files}
		l.Body = cmp.Or(l.Body, strings.Join(files, ", "))
	}
	return l, l.Body != "", nil
}

// author is who wrote a message: a user, or a bot by its name, as far as an id of chatd may have it.
func (n names) author(m message) string {
	if m.User != "" {
		return n.of(m.User)
	}
	name := strings.Trim(noID.ReplaceAllString(m.Username, "-"), "-.")
	return cmp.Or(name[:min(len(name), idBytesMax)], m.BotID, botName(m))
}

// botName is for a bot without a name.
func botName(m message) string {
	if m.Subtype == "bot_message" {
		return "bot"
	}
	return ""
}

const idBytesMax = 128

// noID is what no id of chatd has.
var noID = regexp.MustCompile(`[^A-Za-z0-9._@+|-]+`)

// of is the name of a user, or the id where the export has none.
func (n names) of(id string) string { return cmp.Or(n[id], id) }

var (
	// marked is `<@U1>`, `<@U1|name>`, `<#C1|general>`, `<!here>`, `<https://x.example|label>`.
	marked   = regexp.MustCompile(`<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>`)
	entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
)

// text is plain text, and whom it mentions.
func (n names) text(text string) (plain string, mentions []string) {
	plain = marked.ReplaceAllStringFunc(text, func(mark string) string {
		part := marked.FindStringSubmatch(mark)
		switch sign, target, label := part[1], part[2], part[3]; {
		case sign == "@":
			name := n.of(target)
			if !slices.Contains(mentions, name) {
				mentions = append(mentions, name)
			}
			return "@" + name
		case sign == "#":
			return "#" + cmp.Or(label, target)
		case sign == "!":
			return "@" + cmp.Or(strings.TrimPrefix(label, "@"), target)
		case label != "" && label != target:
			return label + " (" + target + ")"
		default:
			return target
		}
	})
	return entities.Replace(plain), mentions
}

// at reads `1700000000.000100`: seconds and microseconds.
func at(ts string) (time.Time, error) {
	seconds, rest, _ := strings.Cut(ts, ".")
	s, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("ts %q is no time", ts)
	}
	micros, err := strconv.ParseInt((rest + "000000")[:6], 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("ts %q is no time", ts)
	}
	return time.Unix(s, micros*1000).UTC().Truncate(time.Millisecond), nil
}

// emojis are the most common ones; the others stay `:name:`.
var emojis = map[string]string{"+1": "👍", "thumbsup": "👍", "-1": "👎", "heart": "❤️", "tada": "🎉", "joy": "😂", "eyes": "👀", "pray": "🙏",
	"white_check_mark": "✅", "rocket": "🚀", "fire": "🔥", "clap": "👏", "raised_hands": "🙌", "100": "💯", "smile": "😄", "thinking_face": "🤔"}

// emojiOf leaves the tone of the skin out.
func emojiOf(name string) string {
	name, _, _ = strings.Cut(name, "::")
	return cmp.Or(emojis[name], ":"+name+":")
}
