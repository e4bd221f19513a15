package chat

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strconv"
)

// encode writes v as one line of JSON, with `<`, `>` and `&` as they are: what is stored is what is served, and escapes
// made for HTML only cost bytes there.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("chat: encode: " + err.Error()) //nolint:forbidigo // only types of this package come here, with data that was checked to be JSON
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// entryRest is the JSON of e from after `{"id":N,` on: the store puts the id in front.
func entryRest(e Entry) []byte {
	e.ID = 0
	return bytes.TrimPrefix(encode(e), []byte(`{"id":0,`))
}

// entryJSON is the JSON of an entry as it is stored and served.
func entryJSON(id int64, rest []byte) []byte { return withNumber(`{"id":`, id, rest) }

// itemRest is the JSON of an inbox item from after `{"seq":N,` on.
func itemRest(it Item) []byte {
	it.Seq = 0
	return bytes.TrimPrefix(encode(it), []byte(`{"seq":0,`))
}

func withNumber(head string, n int64, rest []byte) []byte {
	b := make([]byte, 0, len(head)+20+len(rest))
	b = strconv.AppendInt(append(b, head...), n, 10)
	return append(append(b, ','), rest...)
}

// notice is the record of an entry that the server writes on behalf of by.
func (s *Service) notice(by Caller, group string, atMs int64, e Entry) NoticeEntry {
	e.Group, e.From, e.Kind, e.SentAt = group, by.User, Notice, TimeMs(atMs)
	return NoticeEntry{Mark: newMark(), Rest: entryRest(e)}
}

// contentHash tells whether a repeated key comes with the same content. It covers what the client chose, not what the
// server adds.
func contentHash(e Entry) string {
	e.ID, e.ClientID, e.From, e.SentAt = 0, "", "", Time{}
	return shortHash(encode(e))
}

// shortHash is 128 bits of SHA-256 in base64url.
func shortHash(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		// The length in front keeps ("ab","c") and ("a","bc") apart.
		h.Write(strconv.AppendInt(nil, int64(len(p)), 10))
		h.Write([]byte{0})
		h.Write(p)
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:16])
}

const markAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// newMark makes the mark of a new entry: 36 random bits, enough to tell it from the one entry that a rolled back log
// may have had in its place.
func newMark() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails; see crypto/rand
	for i := range b {
		b[i] = markAlphabet[b[i]&63]
	}
	return string(b[:])
}

// newEpoch names a new life of a log: 64 random bits, so that no two lives are ever taken for one another.
func newEpoch() string {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
