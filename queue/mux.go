package queue

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Middleware wraps handlers, for example to log their runs or to add a value to their contexts. It must return the
// error of the handler, or one that wraps it: Bury, Snooze and RetryAfter are found inside.
type Middleware func(Handler) Handler

// Handlers is what kinds are registered in: a Server or a Mux.
type Handlers interface {
	HandlePolicy(pattern string, p Policy, h Handler)
}

var (
	_ Handlers = (*Server)(nil)
	_ Handlers = (*Mux)(nil)
)

// Mux collects handlers of related kinds and the middleware around them, to be mounted in a Server or another Mux. The
// zero value is empty. It is not safe for concurrent use.
//
// A pattern is a kind, or the beginning of kinds followed by "*": "mail.*" stands for all kinds that begin with
// "mail.", and "*" for all. Of several patterns that match, the kind itself goes first, then the longest.
type Mux struct {
	kinds  map[string]kind
	around []Middleware
}

// Handle registers the handler of a pattern.
func (m *Mux) Handle(pattern string, h Handler) { m.HandlePolicy(pattern, Policy{}, h) }

// HandlePolicy is Handle with a policy for its kinds. It panics if the pattern is registered already, or is none that a
// task can have.
func (m *Mux) HandlePolicy(pattern string, p Policy, h Handler) {
	if m.kinds == nil {
		m.kinds = map[string]kind{}
	}
	register(m.kinds, pattern, kind{handler: h, policy: p})
}

// Use wraps all handlers of the Mux, whether they are registered before or after. The first Middleware is the outermost
// one.
func (m *Mux) Use(around ...Middleware) { m.around = append(m.around, around...) }

// Mount registers the handlers that sub has now, within its middleware. prefix comes before their patterns: with
// "mail.", the kind "send" of sub is "mail.send" here, and "*" is "mail.*".
func (m *Mux) Mount(prefix string, sub *Mux) { mount(m, prefix, sub) }

// Use wraps all handlers of the server, as Mux.Use does. Call it before Run.
func (s *Server) Use(around ...Middleware) { s.around = append(s.around, around...) }

// Mount registers the handlers of a Mux, as Mux.Mount does. Call it before Run.
func (s *Server) Mount(prefix string, sub *Mux) { mount(s, prefix, sub) }

func mount(to Handlers, prefix string, sub *Mux) {
	for _, pattern := range slices.Sorted(maps.Keys(sub.kinds)) {
		k := sub.kinds[pattern]
		to.HandlePolicy(prefix+pattern, k.policy, wrap(k.handler, sub.around))
	}
}

func wrap(h Handler, around []Middleware) Handler {
	for _, one := range slices.Backward(around) {
		h = one(h)
	}
	return h
}

func register(kinds map[string]kind, pattern string, k kind) {
	if _, twice := kinds[pattern]; twice || pattern == "" || k.handler == nil {
		panic(fmt.Sprintf("queue: kind %q has no handler, or two", pattern)) //nolint:forbidigo // like http.Handle: a mistake that shows at the first start
	}
	if strings.ContainsFunc(pattern, notPrintable) || len(pattern) > nameBytesMax {
		panic(fmt.Sprintf("queue: no task can have the kind %q", pattern)) //nolint:forbidigo // the same
	}
	kinds[pattern] = k
}

// family is the kinds that begin with a prefix.
type family struct {
	prefix string
	kind
}

// familyOf returns the prefix that a pattern stands for; false if it is a kind.
func familyOf(pattern string) (prefix string, ok bool) { return strings.CutSuffix(pattern, "*") }

// registry is what a server runs.
type registry struct {
	kinds map[string]kind // by pattern
	// families are those of kinds whose patterns are prefixes, the longest first, and around is what goes around all
	// handlers. freeze puts both into force.
	families []family
	around   []Middleware
}

// freeze puts the middleware of the server around its handlers, and the prefixes in order, the longest first.
func (s *registry) freeze() {
	for pattern, k := range s.kinds {
		k.handler = wrap(k.handler, s.around)
		s.kinds[pattern] = k
		if prefix, ok := familyOf(pattern); ok {
			s.families = append(s.families, family{prefix, k})
		}
	}
	slices.SortFunc(s.families, func(a, b family) int { return cmp.Compare(len(b.prefix), len(a.prefix)) })
}

// kindOf finds what runs a kind in a queue.
func (s *Server) kindOf(name, queue string) (kind, bool) {
	if strings.HasPrefix(name, KindPeriodic) {
		return kind{s.firePeriodic, Policy{AttemptsMax: s.o.AttemptsMax, BackoffMin: s.o.BackoffMin, BackoffMax: s.o.BackoffMax}}, true
	}
	_, k, ok := s.registered(name, queue)
	return k, ok
}

// registered finds what is registered for a kind in a queue, and under which pattern.
func (s *registry) registered(name, queue string) (pattern string, k kind, ok bool) {
	if k, ok := s.kinds[name]; ok && k.serves(queue) {
		return name, k, true
	}
	for _, f := range s.families {
		if strings.HasPrefix(name, f.prefix) && f.serves(queue) {
			return f.prefix + "*", f.kind, true
		}
	}
	return "", kind{}, false
}
