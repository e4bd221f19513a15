package auth

import (
	"net/http"
	"net/netip"
	"strings"

	"github.com/chatd/chatd/chat"
)

// ErrNoToken refuses a request without a token.
var ErrNoToken = chat.Errorf(chat.CodeUnauthenticated, "no token: want the header Authorization: Bearer <token>")

// AsHeader names the user whom a key acts for.
const AsHeader = "Chatd-As"

var errAs = chat.Errorf(chat.CodeInvalid, "Chatd-As: want one user")

var errBearer = chat.Errorf(chat.CodeUnauthenticated, "the Authorization header must be one, of the form Bearer <token>")

// Identify finds out who makes a request, by the token in its Authorization header (RFC 6750): the one place where that is decided,
// for calls and handshakes alike. from is the address of the client. Without the header its error is ErrNoToken, otherwise that of
// Verify.
func (verify Verify) Identify(r *http.Request, from netip.Addr) (Identity, error) {
	values := r.Header.Values("Authorization")
	if len(values) == 0 {
		return Identity{}, ErrNoToken
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.Trim(token, " ") // RFC 9110 allows more than one space between the two
	if len(values) > 1 || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return Identity{}, errBearer
	}
	as := r.Header.Values(AsHeader)
	if len(as) > 1 || len(as) == 1 && as[0] == "" {
		return Identity{}, errAs
	}
	return verify(r.Context(), Credentials{Token: token, As: strings.Join(as, ""), From: from})
}
