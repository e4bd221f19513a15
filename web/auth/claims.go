package auth

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/wire"
)

// What a token says unless the options name other claims.
const (
	userClaim  = "sub"
	loginClaim = "sid" // as OpenID Connect names a session
	roleClaim  = "role"
	roleAdmin  = "admin"
)

// checkText refuses JSON that readers disagree about, before anything else reads it: a claim that is there twice has the
// first value for some and the last for others (RFC 7519, 4). It bounds the nesting, because no signature is checked yet.
func (v *Verifier) checkText(token string) error {
	parts := strings.Split(token, ".")
	for i, wrong := range []*chat.Error{errHeader, errClaims} {
		text, err := v.parser.DecodeSegment(parts[i])
		if err != nil || !utf8.Valid(text) || !json.Valid(text) {
			return errMalformed
		}
		if wire.CheckObject(text) != nil {
			return wrong
		}
	}
	return nil
}

// identity says whom a verified token is for.
func (v *Verifier) identity(t *jwt.Token, claims jwt.MapClaims) (Identity, error) {
	user, err := v.user(claims)
	if err != nil {
		return Identity{}, err
	}
	expires, err := claims.GetExpirationTime()
	if err != nil || expires == nil {
		return Identity{}, errNoExp
	}
	who := Identity{User: user, Admin: v.admin(t, claims), Expires: expires.Time}
	if issued, err := claims.GetIssuedAt(); err == nil && issued != nil { // another type says nothing, as always
		who.IssuedS = issued.Unix()
	}
	for _, field := range v.opt.Profile {
		switch value, _ := claims[field].(string); field {
		case "name":
			who.claims.Name = strings.Clone(value)
		case "picture":
			who.claims.Picture = strings.Clone(value)
		}
	}
	who.claims.IssuedS = who.IssuedS
	if t.Method == jwt.SigningMethodHS256 {
		who.Login, _ = claims[loginClaim].(string)
	}
	return who, nil
}

// user is the id in the claim that names the user. A whole number stands for its digits, as they are written.
func (v *Verifier) user(claims jwt.MapClaims) (string, error) {
	name, what, missing := v.opt.UserClaim, "token claim of CHATD_JWT_USER_CLAIM", errNoUserClaim
	if name == "" {
		name, what, missing = userClaim, "token sub", errNoSub
	}
	value, _ := claimOf(claims, name)
	var id string
	switch value := value.(type) {
	case nil:
		return "", missing
	case string:
		id = value
	case json.Number:
		id = value.String()
		if strings.Trim(id, "0123456789") != "" {
			return "", chat.Errorf(chat.CodeUnauthenticated, "%s must be a string or a whole number", what)
		}
	default:
		return "", chat.Errorf(chat.CodeUnauthenticated, "%s must be a string or a whole number", what)
	}
	switch {
	case chat.ValidUserID(id):
		return id, nil
	case chat.ValidGroupID(id):
		return "", chat.Errorf(chat.CodeUnauthenticated, "%s is not a user id: it must not begin with in:, reader: or key:, and not be @all", what)
	}
	return "", chat.Errorf(chat.CodeUnauthenticated, "%s is not a user id: want 1 to 128 of A-Z a-z 0-9 . _ - @ + | :", what)
}

// admin reports whether a token is an operator's. Tokens of the secret have the role where chatd writes it, whatever the
// claim is in those of an identity provider.
func (v *Verifier) admin(t *jwt.Token, claims jwt.MapClaims) bool {
	if t.Method == jwt.SigningMethodHS256 && claims[roleClaim] == roleAdmin {
		return true
	}
	if v.opt.RoleClaim == "" {
		return claims[roleClaim] == v.opt.AdminValue
	}
	switch value, _ := claimOf(claims, v.opt.RoleClaim); roles := value.(type) {
	case string:
		return roles == v.opt.AdminValue
	case []any:
		return slices.Contains(roles, any(v.opt.AdminValue))
	default:
		return false
	}
}

// claimOf finds a claim by its name, and else by its path: a.b is b in the object a. Names have dots themselves (URLs,
// clients of Keycloak), so every way to read a path is tried, the longest first step first.
func claimOf(claims map[string]any, name string) (value any, ok bool) {
	if value, ok := claims[name]; ok {
		return value, true
	}
	for dot := strings.LastIndexByte(name, '.'); dot > 0; dot = strings.LastIndexByte(name[:dot], '.') {
		if inner, isObject := claims[name[:dot]].(map[string]any); isObject {
			if value, ok := claimOf(inner, name[dot+1:]); ok {
				return value, true
			}
		}
	}
	return nil, false
}
