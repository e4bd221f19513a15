package accounts

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"github.com/chatd/chatd/chat"
)

// Bounds of a password.
const (
	passwordCharsMin = 10
	passwordBytesMax = 128
)

//go:embed common.txt
var commonText string

// common is the set of passwords that many people have.
var common = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for line := range strings.Lines(commonText) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			set[line] = true
		}
	}
	return set
})

// CheckPassword refuses a password that is too short, too long or easy to guess for the account of user.
func CheckPassword(user, password string) error {
	switch {
	case !utf8.ValidString(password):
		return chat.Invalid("password: not valid UTF-8")
	case utf8.RuneCountInString(password) < passwordCharsMin:
		return chat.Invalid("password: at least %d characters", passwordCharsMin)
	case len(password) > passwordBytesMax:
		return chat.Invalid("password: at most %d bytes", passwordBytesMax)
	case strings.EqualFold(password, user):
		return chat.Invalid("password: must not be the name of the user")
	case common()[strings.ToLower(password)]:
		return chat.Invalid("password: too many people have this one; choose another")
	}
	return nil
}

// What OWASP asks of Argon2id at the least (Password Storage Cheat Sheet): 19 MiB, two passes, one lane.
const (
	hashMemoryKiB = 19 << 10
	hashPasses    = 2
	hashLanes     = 1
	saltBytes     = 16
	hashBytes     = 32
)

// Bounds of hashing: four at a time take 76 MiB, and a line of 64 takes a slow core some seconds.
const (
	hashesAtOnce  = 4
	hashesWaiting = 64
	hashWait      = 10 * time.Second
)

var errBusy = &chat.Error{Code: chat.CodeUnavailable, Message: "too many people sign in at the moment", RetryAfter: time.Second}

// hasher hashes passwords, a few at a time: each hash takes memory and a whole core.
type hasher struct {
	turns chan struct{}
	line  chan struct{} // of those who wait and those who hash
	dummy string        // what the passwords of unknown users are compared with
}

func newHasher() *hasher {
	h := &hasher{turns: make(chan struct{}, hashesAtOnce), line: make(chan struct{}, hashesAtOnce+hashesWaiting)}
	h.dummy = encodeHash(random(saltBytes), random(hashBytes))
	return h
}

// turn waits until a password may be hashed. The caller calls done.
func (h *hasher) turn(ctx context.Context) (done func(), err error) {
	select {
	case h.line <- struct{}{}:
	default:
		return nil, errBusy
	}
	ctx, cancel := context.WithTimeout(ctx, hashWait)
	defer cancel()
	select {
	case h.turns <- struct{}{}:
		return func() { <-h.turns; <-h.line }, nil
	case <-ctx.Done():
		<-h.line
		return nil, errBusy
	}
}

// hash returns a password as it is stored: a PHC string, which names its parameters.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	done, err := h.turn(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	salt := random(saltBytes)
	return encodeHash(salt, argon2.IDKey([]byte(password), salt, hashPasses, hashMemoryKiB, hashLanes, hashBytes)), nil
}

// matches tells whether a password is the one of a hash. Without a hash it is not, after the same time.
func (h *hasher) matches(ctx context.Context, hash, password string) (bool, error) {
	known := hash != ""
	if !known {
		hash = h.dummy
	}
	var memory, passes uint32
	var lanes uint8
	fields := strings.Split(hash, "$")
	if len(fields) != 6 || fields[1] != "argon2id" || fields[2] != hashVersion {
		return false, fmt.Errorf("the hash of a password has the form %q, which is not known", strings.Join(fields[:min(3, len(fields))], "$"))
	}
	_, err := fmt.Sscanf(fields[3], "m=%d,t=%d,p=%d", &memory, &passes, &lanes)
	salt, saltErr := base64.RawStdEncoding.DecodeString(fields[4])
	want, wantErr := base64.RawStdEncoding.DecodeString(fields[5])
	if err != nil || saltErr != nil || wantErr != nil || passes < 1 || lanes < 1 || len(want) < 16 {
		return false, fmt.Errorf("the hash of a password cannot be read")
	}
	done, err := h.turn(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	got := argon2.IDKey([]byte(password), salt, passes, memory, lanes, uint32(len(want)))
	return subtle.ConstantTimeCompare(got, want) == 1 && known, nil
}

// current tells whether a hash has today's parameters.
func current(hash string) bool { return strings.HasPrefix(hash, hashPrefix) }

var (
	hashVersion = fmt.Sprintf("v=%d", argon2.Version)
	hashPrefix  = fmt.Sprintf("$argon2id$%s$m=%d,t=%d,p=%d$", hashVersion, hashMemoryKiB, hashPasses, hashLanes)
)

func encodeHash(salt, hash []byte) string {
	return hashPrefix + base64.RawStdEncoding.EncodeToString(salt) + "$" + base64.RawStdEncoding.EncodeToString(hash)
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails; see crypto/rand
	return b
}
