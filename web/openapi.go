package web

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/chatd/chatd/web/wire"
)

// openapiYAML is the description as it is served: the source of the generated code, of the table of routes and of /docs.
//
//go:embed openapi.yaml
var openapiYAML []byte

// route is what the description says of one method and path, as far as requests are checked by it.
type route struct {
	id       string // operationId
	method   string
	template string // as in the description: /v1/groups/{group}
	open     bool   // no token is asked for before the handler runs
	admin    bool   // for operators
	path     []string
	query    map[string]parameter
}

// parameter is what a query parameter may hold.
type parameter struct {
	integer  bool
	min      int64
	bytesMin int
	bytesMax int // 0: no bound of its own
	enum     []string
}

// loadDescription parses openapi.yaml, which the build embeds: an error is a bug of the build.
func loadDescription() (*openapi3.T, error) {
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(openapiYAML)
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	return doc, nil
}

var templateParam = regexp.MustCompile(`\{([a-z_]+)\}`)

// echoPath writes a path of the description the way Echo names it: /v1/groups/:group.
func echoPath(template string) string { return templateParam.ReplaceAllString(template, ":$1") }

// routesOf builds the table of routes, by method and Echo path.
func routesOf(doc *openapi3.T) map[string]*route {
	table := make(map[string]*route)
	for template, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			r := &route{id: op.OperationID, method: method, template: template, query: make(map[string]parameter)}
			security := doc.Security
			if op.Security != nil {
				security = *op.Security
			}
			r.open = len(security) == 0
			for _, requirement := range security {
				r.open = r.open || len(requirement) == 0
				r.admin = r.admin || slices.Contains(requirement["bearer"], "admin")
			}
			for _, p := range append(append(openapi3.Parameters{}, item.Parameters...), op.Parameters...) {
				switch p.Value.In {
				case openapi3.ParameterInPath:
					r.path = append(r.path, p.Value.Name)
				case openapi3.ParameterInQuery:
					r.query[p.Value.Name] = parameterOf(p.Value.Schema.Value)
				}
			}
			table[method+" "+echoPath(template)] = r
		}
	}
	return table
}

func parameterOf(s *openapi3.Schema) parameter {
	p := parameter{integer: s.Type.Is(openapi3.TypeInteger), bytesMin: int(s.MinLength)}
	if s.Min != nil {
		p.min = int64(*s.Min)
	}
	if s.MaxLength != nil {
		p.bytesMax = int(*s.MaxLength)
	}
	for _, v := range s.Enum {
		p.enum = append(p.enum, fmt.Sprint(v))
	}
	return p
}

// check tells what is wrong with a value, "" where nothing is. It never repeats the value.
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
	case len(value) < p.bytesMin:
		return "must not be empty"
	case p.bytesMax > 0 && len(value) > p.bytesMax:
		return fmt.Sprintf("at most %d bytes", p.bytesMax)
	}
	return ""
}
