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

// Encode writes v as one line of JSON, without escaping `<`, `>` and `&`: what is stored is what is served, and escapes for
// HTML would only cost bytes. v must be of a type that JSON can represent.
func Encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("chat: encode: " + err.Error()) //nolint:forbidigo // only types of the domain come here, with data that was checked to be JSON
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// entryRest is the JSON of e from after `{"id":N,` on: the store puts the id in front.
func entryRest(e Entry) []byte {
	e.ID, e.ExpireS = 0, 0 // the store decides what it comes to
	return bytes.TrimPrefix(Encode(e), []byte(`{"id":0,`))
}

// EntryJSON is the JSON of an entry as it is stored and served; rest is what follows its id.
func EntryJSON(id int64, rest []byte) []byte { return withNumber(`{"id":`, id, rest) }

// Rest is the JSON of an inbox item from after `{"seq":N,` on: the store puts the seq in front.
func (it Item) Rest() []byte {
	it.Seq = 0
	return bytes.TrimPrefix(Encode(it), []byte(`{"seq":0,`))
}

func withNumber(head string, n int64, rest []byte) []byte {
	b := make([]byte, 0, len(head)+20+len(rest))
	b = strconv.AppendInt(append(b, head...), n, 10)
	return append(append(b, ','), rest...)
}

// NewNotice is the record of an entry that the server writes on behalf of by.
func NewNotice(by Caller, group string, atMs int64, e Entry) NoticeEntry {
	return newNotice(by, group, atMs, e)
}

// newNotice is the record of an entry that the server writes on behalf of by.
func newNotice(by Caller, group string, atMs int64, e Entry) NoticeEntry {
	e.Group, e.From, e.Via, e.Kind, e.SentAt = group, by.User, by.Via, Notice, TimeMs(atMs)
	return NoticeEntry{Mark: newMark(), Rest: entryRest(e)}
}

// noticeHole stands for whom a notice concerns. It cannot be in an id, so it occurs nowhere else in a notice.
const noticeHole = "$"

// NewUsersNotice is the record of a notice about users whom only the store's step knows. It takes e and fills in who.
func NewUsersNotice(by Caller, group string, atMs int64, e Entry) UsersNotice {
	e.User = noticeHole
	n := newNotice(by, group, atMs, e)
	head, tail, _ := bytes.Cut(n.Rest, []byte(`"user":"`+noticeHole+`"`))
	return UsersNotice{Mark: n.Mark, Head: head, Tail: tail}
}

// concerning names users in a notice: one as User, several as Users.
func (e Entry) concerning(users []string) Entry {
	if len(users) == 1 {
		e.User = users[0]
	} else {
		e.Users = users
	}
	return e
}

// NewEntry is what a store needs to append an entry: a mark, and the JSON from behind the id on.
func NewEntry(e Entry) (mark string, rest []byte) { return newMark(), entryRest(e) }

// contentHash shows whether a repeated key comes with the same content. It covers what the client chose, not what the server
// adds.
func contentHash(e Entry) string {
	if len(e.Files) > 0 {
		ids := make([]File, len(e.Files))
		for i, id := range fileIDs(e.Files) {
			ids[i].ID = id
		}
		e.Files = ids
	}
	e.ID, e.ClientID, e.From, e.Via, e.SentAt = 0, "", "", "", Time{}
	return Hash(Encode(e))
}

// Hash is 128 bits of the SHA-256 of parts, in base64url (22 characters).
func Hash(parts ...[]byte) string {
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

// NewID makes an id for something that the server names. It is random, unless creation, a Hash, is given: the same creation
// always gets the same id.
func NewID(creation string) string {
	var b [10]byte
	if creation == "" {
		_, _ = rand.Read(b[:]) // never fails; see crypto/rand
	} else {
		hash, _ := base64.RawURLEncoding.DecodeString(creation) // made by Hash
		copy(b[:], hash)
	}
	return "g" + hex.EncodeToString(b[:])
}
