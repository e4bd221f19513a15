package web

import (
	_ "embed"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/keys"
	"github.com/chatd/chatd/web/auth"
	"github.com/chatd/chatd/web/wire"
)

//go:generate go run ./describe

// openapiYAML is the description as served: the generated code, the table of routes and /docs are made from it.
//
//go:embed openapi.yaml
var openapiYAML []byte

// route is what the description says about one method and path, as far as requests are checked against it.
type route struct {
	id       string // operationId
	method   string
	template string     // as in the description: /v1/groups/{group}
	open     bool       // no token is required before the handler runs
	admin    bool       // for operators
	self     bool       // and for the user whom the path names
	scope    keys.Scope // that a key needs; Send and Read where the route is about its caller, so that the key has to act for a user
	path     []string
	query    map[string]parameter
}

// routes are those of the description, by method and Echo path.
type routes map[string]*route

// of is the route of a request; nil: the description has none.
func (r routes) of(c echo.Context) *route { return r[c.Request().Method+" "+c.Path()] }

// allows refuses who may not call the route. param is a parameter of the path.
func (r *route) allows(who auth.Identity, param func(string) string) error {
	if who.Key != nil {
		if err := r.allowsKey(who, param); err != nil {
			return err
		}
		if who.User == "" {
			return nil // a scope stands for the role
		}
	}
	if r.admin && !who.Admin && !(r.self && who.User != "" && userOf(param("user"), who.User) == who.User) {
		return chat.Errorf(chat.CodeForbidden, "only operators (role admin) may do this")
	}
	return nil
}

// userOf is the user that a path names: me is the caller.
func userOf(user, caller string) string {
	if user == "me" {
		return caller
	}
	return user
}

// allowsKey refuses a key without the scope, without a user where there has to be one, and outside its groups.
func (r *route) allowsKey(who auth.Identity, param func(string) string) error {
	personal := r.scope == keys.Send || r.scope == keys.Read
	need := r.scope
	if who.User != "" && !personal {
		if need = keys.Send; r.method == http.MethodGet {
			need = keys.Read
		}
	}
	switch group := param("group"); {
	case !who.Key.Has(need):
		return chat.Errorf(chat.CodeForbidden, "the key lacks the scope %s", need)
	case personal && who.User == "":
		return chat.Errorf(chat.CodeInvalid, "Chatd-As: missing; what is asked for is a user's, and the key acts for nobody")
	case group != "" && !who.Key.InGroup(group), group == "" && who.Key.Bound() && !r.anyGroup():
		return chat.Errorf(chat.CodeForbidden, "groups: the key with the scope %s may do this only in its groups", need)
	}
	return nil
}

// anyGroup tells whether a route without a group in its path leaves out the groups that its caller may not reach, and the keys
// that may reach more.
func (r *route) anyGroup() bool {
	switch r.id {
	case "createGroup", "listGroups", "listPublicGroups", "sync", "getUnread", "search", "getMe",
		"createKey", "listKeys", "getKey", "updateKey", "deleteKey", "rotateKey",
		"createSchedule", "listSchedules", "getSchedule", "updateSchedule", "cancelSchedule", "runSchedule":
		return true
	}
	return false
}

// parameter is what a query parameter may hold.
type parameter struct {
	required bool
	integer  bool
	min      int64
	// In characters, as JSON Schema counts them.
	lengthMin int
	lengthMax int // 0: no bound of its own
	enum      []string
}

// check says what is wrong with a value, or "". It never repeats the value.
func (p parameter) check(value string) string {
	switch {
	case p.integer:
		n, ok := wire.Decimal(value)
		if !ok || n < p.min {
			return fmt.Sprintf("want an integer from %d", p.min)
		}
	case len(p.enum) > 0:
		for _, e := range p.enum {
			if e == value {
				return ""
			}
		}
		return "want one of " + strings.Join(p.enum, ", ")
	case len(value) < p.lengthMin:
		return "must not be empty"
	case p.lengthMax > 0 && utf8.RuneCountInString(value) > p.lengthMax:
		return fmt.Sprintf("at most %d characters", p.lengthMax)
	}
	return ""
}
