package accounts

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/chatd/chatd/chat"
)

// A refresh token names its user, its login and how often that was refreshed, and holds a secret. The first secret of a login is
// random, and each further one follows from the one before by a key of the server. So the store needs only the hash of the
// newest: who still has an older one can be given the newest, and proves by having it that it was once theirs.

const refreshPrefix = "cr_"

// refreshToken is what a refresh token says.
type refreshToken struct {
	user, login string
	count       int // how often the login was refreshed before it
	secret      []byte
}

func (t refreshToken) String() string {
	b := base64.RawURLEncoding
	return fmt.Sprintf("%s%s.%s.%d.%s", refreshPrefix, b.EncodeToString([]byte(t.user)), t.login, t.count, b.EncodeToString(t.secret))
}

func parseRefresh(text string) (t refreshToken, ok bool) {
	rest, ours := strings.CutPrefix(text, refreshPrefix)
	fields := strings.Split(rest, ".")
	if !ours || len(fields) != 4 || len(text) > 512 {
		return t, false
	}
	user, err := base64.RawURLEncoding.DecodeString(fields[0])
	count, countErr := strconv.Atoi(fields[2])
	secret, secretErr := base64.RawURLEncoding.DecodeString(fields[3])
	t = refreshToken{string(user), fields[1], count, secret}
	return t, err == nil && countErr == nil && secretErr == nil && count >= 0 && len(secret) == sha256.Size &&
		chat.ValidUserID(t.user) && chat.ValidID(t.login)
}

// stepsMax is how far back a token can prove itself: 180 days of a refresh each eight minutes, about 20 ms of work. One that is
// older still is refused like one that never was.
const stepsMax = 32_000

// next is the token that follows.
func (t refreshToken) next(key []byte) refreshToken {
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "refresh\n%s\n%d\n", t.login, t.count+1)
	_, _ = mac.Write(t.secret)
	t.count, t.secret = t.count+1, mac.Sum(nil)
	return t
}

// at is the token that follows after count refreshes in all.
func (t refreshToken) at(count int, key []byte) refreshToken {
	if count-t.count > stepsMax {
		return refreshToken{}
	}
	for t.count < count {
		t = t.next(key)
	}
	return t
}

func (t refreshToken) is(hash []byte) bool {
	sum := sha256.Sum256(t.secret)
	return subtle.ConstantTimeCompare(sum[:], hash) == 1
}

func (t refreshToken) hash() []byte {
	sum := sha256.Sum256(t.secret)
	return sum[:]
}
