package limit

import (
	"net/http"
	"strconv"
	"time"

	"github.com/chatd/chatd/chat"
)

// Quota is the state of one limit for a caller, for the headers of an answer.
type Quota struct {
	limit   string // as the headers name it
	policy  string // what it allows, in the syntax of RateLimit-Policy
	left    int
	full    time.Duration // until everything is available again
	refused time.Duration // until as much as was asked for is available; 0: it was granted
}

// Quotas are the limits that a call was charged to.
type Quotas []Quota

// Write sets the headers of draft-ietf-httpapi-ratelimit-headers-10: a list of names in quotes, each with q (units in a
// window) and w (its length, s), or r (units left) and t (seconds until the window is whole again).
func (q Quotas) Write(h http.Header) {
	if len(q) == 0 {
		return
	}
	var state, policy []byte
	for i, one := range q {
		if i > 0 {
			state, policy = append(state, ", "...), append(policy, ", "...)
		}
		state = append(state, '"')
		state = append(state, one.limit...)
		state = append(state, `";r=`...)
		state = strconv.AppendInt(state, int64(one.left), 10)
		state = append(state, ";t="...)
		state = strconv.AppendInt(state, seconds(one.full), 10)
		policy = append(policy, one.policy...)
	}
	h["Ratelimit"] = []string{string(state)}
	h["Ratelimit-Policy"] = []string{string(policy)}
}

// err is the error of the first limit that refuses, or nil.
func (q Quotas) err() error {
	for _, one := range q {
		if one.refused > 0 {
			return refusal(texts[one.limit], one.refused)
		}
	}
	return nil
}

// The names of the limits, in headers and metrics.
const (
	kindUser  = "user"
	kindSend  = "send"
	kindIP    = "ip"
	kindKey   = "key"
	kindCalls = "calls"
	kindPolls = "polls"
	kindConns = "conns"

	// Limits that the websocket enforces itself.
	KindSessions = "sessions" // a session gave way to a newer one of its user, or was refused
	KindSilent   = "silent"   // a socket without a hello gave way to a newer one
)

var texts = map[string]string{
	kindUser:  "too many requests from this user",
	kindSend:  "too many messages and members sent by this user; nothing was stored",
	kindIP:    "too many requests without a valid token from this address",
	kindKey:   "too many requests with this key",
	kindCalls: "too many calls of this user at once",
	kindPolls: "too many waiting polls of this user at once",
	kindConns: "too many connections from this address",
}

func refusal(text string, wait time.Duration) *chat.Error {
	return &chat.Error{Code: chat.CodeRateLimited, Message: text, RetryAfter: wait}
}

func policyOf(name string, r Rate) string {
	return `"` + name + `";q=` + strconv.Itoa(r.Burst) + ";w=" + strconv.FormatInt(max(seconds(r.fill()), 1), 10)
}
