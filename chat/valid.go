package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	spelling "github.com/chatd/chatd/internal/text"
)

// Bounds of single fields. What makes answers or stored state grow without a natural bound is in Limits.
const (
	nameIDBytesMax = 128 // user and group ids: they are part of keys, signals and every message
	idBytesMax     = 64  // other ids
	keyBytesMax    = 64  // retry keys that clients choose
	nameMax        = 100 // characters of the name of a group
	keepMax        = 100_000
	// RetainDaysMax is a hundred years.
	RetainDaysMax       = 36_500
	slowMax             = 21_600 // seconds: six hours
	backlogMin          = 1
	backlogMax          = 1_000_000 // how much an inactive member can hold back
	backlogBytesMax     = 1 << 50
	backlogBytesDefault = 1 << 30
)

// IDMax is the highest id of an entry or an item: the store counts in doubles, which are exact up to there.
const IDMax = 1<<53 - 1

// PublicName is no id for a group: its path is that of the list of public groups.
const PublicName = "public"

// ValidID reports whether id may name something that is neither a user nor a group, such as a device or a webhook: 1 to 64 of
// `A-Za-z0-9._-@+`, not beginning with a dot.
func ValidID(id string) bool { return spelled(id, idBytesMax, "._-@+") }

// ValidGroupID reports whether id may name a group: 1 to 128 of `A-Za-z0-9._-@+|:`, not beginning with a dot. Only such ids
// reach a store, which builds keys from them.
func ValidGroupID(id string) bool { return spelled(id, nameIDBytesMax, "._-@+|:") }

// directPrefix begins the ids of direct groups.
const directPrefix = "direct:"

// DirectID is the id of the direct group of two users, in whatever order.
func DirectID(a, b string) string {
	sum := sha256.Sum256([]byte(min(a, b) + " " + max(a, b))) // no id has a blank
	return directPrefix + hex.EncodeToString(sum[:])
}

// IsDirect reports whether id is spelled like one of DirectID. No other group can have such an id.
func IsDirect(id string) bool {
	rest, ok := strings.CutPrefix(id, directPrefix)
	return ok && len(rest) == hex.EncodedLen(sha256.Size)
}

// reservedUsers begin the names of senders that are no users.
var reservedUsers = []string{"in:", "reader:", keyPrefix}

// keyPrefix begins the name of a key that acts for nobody.
const keyPrefix = "key:"

// ValidUserID reports whether id may name a user: as that of a group, but not beginning with `in:`, `reader:` or `key:`, and not MentionAll.
func ValidUserID(id string) bool {
	return id != MentionAll && ValidGroupID(id) && !slices.ContainsFunc(reservedUsers, func(prefix string) bool { return strings.HasPrefix(id, prefix) })
}

// spelled reports whether id is 1 to most letters, digits and marks, and does not begin with a dot.
func spelled(id string, most int, marks string) bool {
	if len(id) == 0 || len(id) > most || id[0] == '.' {
		return false
	}
	for i := range len(id) {
		c := id[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && strings.IndexByte(marks, c) < 0 {
			return false
		}
	}
	return true
}

// ValidKey reports whether key may be a retry key of a client: 1 to 64 printable ASCII characters. The server's own keys
// contain a character outside of that range, so no client can use one.
func ValidKey(key string) bool {
	if len(key) == 0 || len(key) > keyBytesMax {
		return false
	}
	for i := range len(key) {
		if key[i] < ' ' || key[i] > '~' {
			return false
		}
	}
	return true
}

// CheckKey checks the retry key that the request has in field; it may be absent.
func CheckKey(field, key string) error {
	if key != "" && !ValidKey(key) {
		return Invalid("%s: want 1 to %d printable ASCII characters", field, keyBytesMax)
	}
	return nil
}

// Invalid makes an invalid_request error whose message says what is wrong with the request.
func Invalid(format string, args ...any) error { return Errorf(CodeInvalid, format, args...) }

// CheckCaller refuses a caller whose id is not a valid user id, before it reaches a key.
func CheckCaller(by Caller) error {
	if !ValidUserID(by.User) && !by.Program() {
		return Invalid("the caller's id is not a valid user id")
	}
	return nil
}

// CheckOperator refuses callers other than operators and backends.
func CheckOperator(by Caller) error {
	if err := CheckCaller(by); err != nil {
		return err
	}
	if !by.Admin {
		return Errorf(CodeForbidden, "only operators (role admin) may do this")
	}
	return nil
}

// CheckID checks the id of something that is neither a user nor a group, which the request has in field.
func CheckID(field, id string) error {
	if !ValidID(id) {
		return Invalid("%s: want 1 to %d of A-Z a-z 0-9 . _ - @ +, not beginning with a dot", field, idBytesMax)
	}
	return nil
}

// CheckGroupID checks the id of a group that the request has in field.
func CheckGroupID(field, id string) error {
	if !ValidGroupID(id) {
		return Invalid("%s: want %s", field, WantedGroupID)
	}
	return nil
}

// CheckUserID checks the id of a user that the request has in field.
func CheckUserID(field, id string) error {
	if !ValidUserID(id) {
		return Invalid("%s: want %s", field, WantedUserID)
	}
	return nil
}

// WantedGroupID says what the id of a group is.
const WantedGroupID = "1 to 128 of A-Z a-z 0-9 . _ - @ + | :, not beginning with a dot"

// WantedUserID says what the id of a user is.
const WantedUserID = WantedGroupID + ", in:, reader: or key:, and not @all"

// CheckGroup checks the caller and the id of a group, before either reaches a key, and that the caller may reach the group.
func CheckGroup(by Caller, group string) error {
	if err := CheckGroupID("group", group); err != nil {
		return err
	}
	if !by.Reaches(group) {
		return ErrReach
	}
	return CheckCaller(by)
}

// Line is a short text of one line as it is stored, such as the name of a group. It refuses what would garble a list of them:
// control characters and line breaks.
func Line(field, text string, most int) (string, error) {
	clean := spelling.CleanName(text)
	switch {
	case !utf8.ValidString(text):
		return "", Invalid("%s: not valid UTF-8", field)
	case utf8.RuneCountInString(clean) > most:
		return "", Invalid("%s: at most %d characters", field, most)
	case strings.ContainsFunc(clean, unicode.IsControl):
		return "", Invalid("%s: control characters are not allowed", field)
	}
	return clean, nil
}

// UniqueUsers checks a list of at most most ids of users and returns each once, in order, except for those in but.
func UniqueUsers(field string, ids []string, most int, but ...string) ([]string, error) {
	return uniqueIDs(CheckUserID, field, ids, most, but...)
}

// UniqueMentions is UniqueUsers for mentions, of which one may be MentionAll.
func UniqueMentions(ids []string, most int) ([]string, error) {
	check := func(field, id string) error {
		if id == MentionAll {
			return nil
		}
		return CheckUserID(field, id)
	}
	return uniqueIDs(check, "mentions", ids, most)
}

// UniqueGroups is UniqueUsers for ids of groups.
func UniqueGroups(field string, ids []string, most int) ([]string, error) {
	return uniqueIDs(CheckGroupID, field, ids, most)
}

func uniqueIDs(check func(field, id string) error, field string, ids []string, most int, but ...string) ([]string, error) {
	// A list of over twice the bound cannot be valid, whatever the duplicates; it is not even checked.
	if len(ids) > 2*most {
		return nil, Errorf(CodeOutOfRange, "%s: at most %d", field, most)
	}
	seen := make(map[string]bool, len(ids))
	var out []string
	for i, u := range ids {
		if check(field, u) != nil {
			return nil, check(fmt.Sprintf("%s[%d]", field, i), u)
		}
		if seen[u] || slices.Contains(but, u) {
			continue
		}
		seen[u] = true
		out = append(out, u)
	}
	if len(out) > most {
		return nil, Errorf(CodeOutOfRange, "%s: at most %d", field, most)
	}
	return out, nil
}

// CheckWord checks a word that may be absent: one of two or more.
func CheckWord[T ~string](field string, word *T, of ...T) error {
	if word == nil || slices.Contains(of, *word) {
		return nil
	}
	text := field + ": want " + string(of[0])
	for _, w := range of[1 : len(of)-1] {
		text += ", " + string(w)
	}
	return Invalid("%s or %s", text, of[len(of)-1])
}

// CheckRange checks a number that may be absent: CodeInvalid below low, which is 0 or 1, CodeOutOfRange above high.
func CheckRange(field string, n *int64, low, high int64) error {
	switch {
	case n == nil:
		return nil
	case *n < low:
		return Invalid("%s: want an integer from %d", field, low)
	case *n > high:
		return Errorf(CodeOutOfRange, "%s: must be %d to %d", field, low, high)
	}
	return nil
}

// checkID checks the id of a message that a client names. Only the store knows whether there is such a message.
func checkID(field string, id, low int64) error {
	if id < low {
		return Invalid("%s: want an integer from %d", field, low)
	}
	if id > IDMax {
		return Errorf(CodeOutOfRange, "%s: must not be above the last id of the log", field)
	}
	return nil
}
