package web

import (
	_ "embed"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
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
	template string // as in the description: /v1/groups/{group}
	open     bool   // no token is required before the handler runs
	admin    bool   // for operators
	path     []string
	query    map[string]parameter
}

// routes are those of the description, by method and Echo path.
type routes map[string]*route

// of is the route of a request; nil: the description has none.
func (r routes) of(c echo.Context) *route { return r[c.Request().Method+" "+c.Path()] }

// allows refuses who may not call the route.
func (r *route) allows(who auth.Identity) error {
	if r.admin && !who.Admin {
		return chat.Errorf(chat.CodeForbidden, "only operators (role admin) may do this")
	}
	return nil
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
