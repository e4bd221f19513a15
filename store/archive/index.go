package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/archive/tokens"
)

// index is what the index of words gets of an entry; nothing where it cannot be found.
func (r *row) index(words func([]tokens.Token) string) string {
	if r.words == nil {
		text := words(tokens.Split(archive.Text(r.entry)))
		r.words = &text
	}
	return *r.words
}

// Facets are what searches are narrowed by.
func logFacet(log int64) string       { return "l" + strconv.FormatInt(log, 10) }
func kindFacet(kind chat.Kind) string { return "k" + string(kind)[:1] }

// authorFacet is a hash, for names hold whatever characters.
func authorFacet(user string) string {
	sum := sha256.Sum256([]byte(user))
	return "u" + hex.EncodeToString(sum[:10])
}

func (r *row) facets() []string {
	return []string{logFacet(r.log), authorFacet(r.author), kindFacet(r.kind)}
}

// ftsText is what the full-text table of SQLite gets: its tokenizer splits at spaces.
func ftsText(list []tokens.Token) string {
	var b strings.Builder
	for i, t := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t.Text)
	}
	return b.String()
}

// ftsMatch is the expression of SQLite for a search. Everything is quoted, and nothing that is quoted holds a quote.
func ftsMatch(q tokens.Query, facets [][]string) string {
	var must, not []string
	for _, t := range q.Terms {
		said := `words : "` + strings.Join(t.Tokens, " ") + `"`
		if t.Prefix {
			said += " *"
		}
		if t.Not {
			not = append(not, said)
		} else {
			must = append(must, said)
		}
	}
	for _, some := range facets {
		must = append(must, `facets : ("`+strings.Join(some, `" OR "`)+`")`)
	}
	match := "(" + strings.Join(must, " AND ") + ")"
	for _, said := range not {
		match += " NOT (" + said + ")"
	}
	return match
}

// PostgreSQL takes no tsvector of 1 MiB or more. A token needs its text and at most 12 bytes. What comes after those that fit
// is not found.
const (
	vectorBytesMax = 1<<20 - 4096
	vectorOverhead = 12
)

// tsWords is a tsvector as PostgreSQL reads it: each token with its positions, from 1.
func tsWords(list []tokens.Token) string {
	var b strings.Builder
	bytes := 0
	for i, t := range list {
		if bytes += len(t.Text) + vectorOverhead; bytes > vectorBytesMax {
			break
		}
		b.WriteString("'" + t.Text + "':" + strconv.Itoa(i+1) + " ")
	}
	return b.String()
}

// tsFacets goes on with a tsvector.
func tsFacets(facets []string) string { return "':" + strings.Join(facets, "' ':") + "'" }

// tsQuery is the expression of PostgreSQL for a search.
func tsQuery(q tokens.Query, facets [][]string) string {
	var parts []string
	for _, t := range q.Terms {
		said := "('" + strings.Join(t.Tokens, "' <-> '") + "'"
		if t.Prefix {
			said += ":*"
		}
		said += ")"
		if t.Not {
			said = "!" + said
		}
		parts = append(parts, said)
	}
	for _, some := range facets {
		parts = append(parts, "(':"+strings.Join(some, "' | ':")+"')")
	}
	return strings.Join(parts, " & ")
}
