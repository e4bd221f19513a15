package web

import (
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"slices"
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

// anyScope stands where any key may call.
const anyScope keys.Scope = "any"

// routes are those of the description, by method and Echo path.
type routes map[string]*route

// of is the route of a request; nil: the description has none.
func (r routes) of(c echo.Context) *route { return r[c.Request().Method+" "+c.Path()] }

// asked is the route as a request uses it: a list of what everybody has is another route but for its path.
func (r *route) asked(c echo.Context) *route {
	if r == nil || !slices.Equal(c.QueryParams()["all"], []string{"1"}) {
		return r
	}
	all := *r
	all.admin = true
	switch r.id {
	case "listGroups":
		all.id, all.scope = "listAllGroups", keys.Groups
	case "listSchedules":
		all.id, all.scope = "listAllSchedules", keys.Ops
	default:
		return r
	}
	return &all
}

// named is what a request names outside of its body, as far as it decides who may call; empty: nothing.
type named struct{ group, user string }

// allows refuses who may not call the route.
func (r *route) allows(who auth.Identity, of named) error {
	if who.Key != nil {
		if err := r.allowsKey(who, of.group); err != nil {
			return err
		}
		if who.User == "" {
			return nil // a scope stands for the role
		}
	}
	if r.admin && !who.Admin && !(r.self && who.User != "" && userOf(of.user, who.User) == who.User) {
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

// personal tells whether the route is about its caller.
func (r *route) personal() bool { return r.scope == keys.Send || r.scope == keys.Read }

// need is the scope that a key needs, for itself or acting for a user.
func (r *route) need(acts bool) keys.Scope {
	switch {
	case !acts || r.personal():
		return r.scope
	case r.method == http.MethodGet:
		return keys.Read
	}
	return keys.Send
}

// allowsKey refuses a key without the scope, without a user where there has to be one, and outside its groups.
func (r *route) allowsKey(who auth.Identity, group string) error {
	if r.scope == anyScope {
		return nil // it checks what it does by itself
	}
	need := r.need(who.User != "")
	switch {
	case !who.Key.Has(need):
		return chat.Errorf(chat.CodeForbidden, "the key lacks the scope %s", need)
	case r.personal() && who.User == "":
		return chat.Errorf(chat.CodeInvalid, "Chatd-As: missing; what is asked for is a user's, and the key acts for nobody")
	case group != "" && !who.Key.InGroup(group), group == "" && who.Key.Bound() && !r.anyGroup():
		return beyondReach(need)
	}
	return nil
}

// beyondReach is chat.ErrReach with the scope that has been used.
func beyondReach(scope keys.Scope) error {
	return chat.Errorf(chat.CodeForbidden, "groups: the key with the scope %s may do this only in its groups", scope)
}

// scoped names the scope in the error of a handler, if that is chat.ErrReach.
func (r *route) scoped(err error, by chat.Caller) error {
	var e *chat.Error
	if by.Reach != nil && errors.As(err, &e) && e == chat.ErrReach {
		return beyondReach(r.need(!by.Program()))
	}
	return err
}

// anyGroup tells whether a route without a group in its path leaves out, or refuses, what its caller may not reach: groups, what is
// about them, and keys for others.
func (r *route) anyGroup() bool {
	switch r.id {
	case "createGroup", "listGroups", "listAllGroups", "listPublicGroups", "sync", "listDrafts", "getUnread", "search", "getMe",
		"createSchedule", "listSchedules", "listAllSchedules", "getSchedule", "updateSchedule", "cancelSchedule", "runSchedule",
		"createAnnouncement", "listAnnouncements", "getAnnouncement", "cancelAnnouncement",
		"createInvite", "listInvites", "deleteInvite", "acceptInvite", "listReviews", "decideReview", "listReports", "decideReport", "listAudit",
		"createKey", "listKeys", "getKey", "updateKey", "deleteKey", "rotateKey":
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
