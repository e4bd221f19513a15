package auth

import (
	"net/http"
	"strings"

	"github.com/chatd/chatd/chat"
)

// ErrNoToken refuses a request without a token.
var ErrNoToken = chat.Errorf(chat.CodeUnauthenticated, "no token: want the header Authorization: Bearer <token>")

var errBearer = chat.Errorf(chat.CodeUnauthenticated, "the Authorization header must be one, of the form Bearer <token>")

// Bearer returns the token of the Authorization header (RFC 6750), or "" if there is no such header.
func Bearer(h http.Header) (token string, err error) {
	values := h.Values("Authorization")
	if len(values) == 0 {
		return "", nil
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.Trim(token, " ") // RFC 9110 allows more than one space between the two
	if len(values) > 1 || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", errBearer
	}
	return token, nil
}
