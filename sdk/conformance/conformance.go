// Package conformance checks a client of chatd, in any language, against one list of scenarios: what a server says, cuts,
// refuses and loses, and what the client then shows and asks. It plays the server of a scenario and talks to a driver of the
// client by lines of JSON; docs/clients.md describes both.
package conformance

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"
	"time"
)

//go:embed scenarios/*.json
var files embed.FS

// Scenario is one story of a server and a client.
type Scenario struct {
	Name string
	Rule string // what it shows, in a sentence
	// Groups are those of the caller, as GET /v1/groups lists them.
	Groups []Object
	// Websocket is how the server treats websockets to begin with: open, refused or silent. Empty: open.
	Websocket string
	// Start is added to the driver's start.
	Start Object
	Steps []Object
}

// Object is a JSON object.
type Object = map[string]any

// Scenarios reads all of them, in the order of their names.
func Scenarios(tb testing.TB) (all []Scenario) {
	tb.Helper()
	entries, err := files.ReadDir("scenarios")
	if err != nil {
		tb.Fatal(err)
	}
	for _, e := range entries {
		text, err := files.ReadFile(path.Join("scenarios", e.Name()))
		if err != nil {
			tb.Fatal(err)
		}
		var s Scenario
		d := json.NewDecoder(strings.NewReader(string(text)))
		d.DisallowUnknownFields()
		if err := d.Decode(&s); err != nil {
			tb.Fatalf("%s: %v", e.Name(), err)
		}
		s.Name = strings.TrimSuffix(e.Name(), ".json")
		all = append(all, s)
	}
	return all
}

// stepTime bounds one step, which takes some ms: it only ends a scenario that has failed.
const stepTime = 30 * time.Second

// networkTime is what the network is given before the clock of a client moves on: hours would pass during one call otherwise.
const networkTime = 10 * time.Millisecond

// Run runs a scenario with a driver, which is started for it alone.
func Run(t *testing.T, s Scenario, start func(t *testing.T) *Driver) {
	t.Helper()
	p := &player{t: t, driver: start(t), server: newServer(t, s)}
	begin := Object{"do": "start", "url": p.server.url, "user": "ann", "now": clockStart, "random": 0.5}
	for k, v := range s.Start {
		begin[k] = v
	}
	if names, ok := begin["tokens"].([]any); ok {
		begin["tokens"] = tokens(names)
	}
	p.must(begin)
	for i, step := range s.Steps {
		if err := p.step(step); err != nil {
			text, _ := json.Marshal(step)
			state, _ := p.driver.Ask(Object{"do": "state"})
			t.Fatalf("%s: step %d %s: %v\nstate of the client: %v\nnot yet expected of it: %v", s.Rule, i+1, text, err, state, p.server.left())
		}
	}
}

// player goes through the steps of a scenario.
type player struct {
	t      *testing.T
	driver *Driver
	server *server
	kept   Object // what "keep" has named
}

func (p *player) must(command Object) {
	p.t.Helper()
	if _, err := p.driver.Ask(command); err != nil {
		p.t.Fatal(err)
	}
}

func (p *player) step(step Object) error {
	step = p.fill(step).(Object)
	for _, kind := range []string{"do", "until", "hello", "hears", "call", "say", "answer", "close", "cut", "websocket", "groups", "canned", "quiet"} {
		value, ok := step[kind]
		if !ok {
			continue
		}
		if kind != "say" {
			p.server.listed()
		}
		switch kind {
		case "do":
			return p.do(value.(Object), step)
		case "until":
			return p.until(value.(Object), step)
		case "hello":
			p.advance(step["advancing"], p.server.came)
			return p.server.hello(value)
		case "hears":
			p.advance(step["advancing"], func() bool { return p.server.heard(value.(Object)) })
			return p.keep(p.server.hears(value.(Object)))(step)
		case "call":
			p.advance(step["advancing"], func() bool { return p.server.wasCalled(value.(Object)) })
			return p.keep(p.server.called(value.(Object)))(step)
		case "say":
			return p.server.say(value.(Object))
		case "answer":
			return p.server.answer(value.(Object))
		case "close":
			return p.server.close(int(value.(float64)), step["reason"])
		case "cut":
			return p.server.cut()
		case "websocket":
			p.server.set(value.(string))
		case "groups":
			p.server.list(value.([]any))
		case "canned":
			p.server.can(value.(Object))
		case "quiet":
			return p.server.quiet(value.([]any))
		}
		return nil
	}
	return fmt.Errorf("no such step")
}

// do has the driver do something, and compares what it answers.
func (p *player) do(command, step Object) error {
	got, err := p.driver.Ask(command)
	if fails, ok := step["fails"]; ok {
		if err == nil || !strings.Contains(err.Error(), fails.(string)) {
			return errors.Join(fmt.Errorf("want an error with %q", fails), err)
		}
		return nil
	}
	if err != nil {
		return err
	}
	if want, ok := step["gives"]; ok {
		if err := match(got, want, ""); err != nil {
			return err
		}
	}
	return p.keep(got, nil)(step)
}

// advance moves the clock on by so many ms, again and again until something has come.
func (p *player) advance(ms any, came func() bool) {
	for end := time.Now().Add(stepTime); ms != nil && time.Now().Before(end) && !came(); {
		p.must(Object{"do": "advance", "ms": ms})
	}
}

// until asks the driver again until it answers what is wanted. With "advancing" the clock goes on by so many ms each time.
func (p *player) until(command, step Object) error {
	var wrong error
	for end := time.Now().Add(stepTime); time.Now().Before(end); {
		got, err := p.driver.Ask(command)
		if err != nil {
			return err
		}
		if wrong = match(got, step["gives"], ""); wrong == nil {
			return nil
		}
		if ms, ok := step["advancing"]; ok {
			if _, err := p.driver.Ask(Object{"do": "advance", "ms": ms}); err != nil {
				return err
			}
			time.Sleep(networkTime)
		}
	}
	return wrong
}

// keep notes fields of an object by the names that the step gives them.
func (p *player) keep(got Object, err error) func(step Object) error {
	return func(step Object) error {
		if err != nil {
			return err
		}
		names, _ := step["keep"].(Object)
		for name, field := range names {
			if p.kept == nil {
				p.kept = Object{}
			}
			p.kept[name] = got[field.(string)]
		}
		return nil
	}
}

// fill replaces "$name" by what was kept under that name.
func (p *player) fill(value any) any {
	switch v := value.(type) {
	case string:
		if kept, ok := p.kept[strings.TrimPrefix(v, "$")]; ok && strings.HasPrefix(v, "$") {
			return kept
		}
	case Object:
		filled := Object{}
		for k, one := range v {
			filled[k] = p.fill(one)
		}
		return filled
	case []any:
		filled := make([]any, len(v))
		for i, one := range v {
			filled[i] = p.fill(one)
		}
		return filled
	}
	return value
}

// match compares what is there with what is wanted: the fields that are wanted, lists as a whole. null wants nothing,
// {"between": [a, b]} a number, {"not": x} something else.
func match(got, want any, at string) error {
	switch w := want.(type) {
	case nil:
		if got != nil {
			return fmt.Errorf("%s: got %v, want nothing", at, got)
		}
		return nil
	case Object:
		if not, ok := w["not"]; ok && len(w) == 1 {
			if match(got, not, at) == nil {
				return fmt.Errorf("%s: got %v", at, got)
			}
			return nil
		}
		if bounds, ok := w["between"].([]any); ok && len(w) == 1 {
			if n, ok := got.(float64); !ok || n < bounds[0].(float64) || n > bounds[1].(float64) {
				return fmt.Errorf("%s: got %v, want %v", at, got, bounds)
			}
			return nil
		}
		g, ok := got.(Object)
		if !ok {
			return fmt.Errorf("%s: got %v, want %v", at, got, want)
		}
		for k, one := range w {
			if err := match(g[k], one, at+"."+k); err != nil {
				return err
			}
		}
		return nil
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Errorf("%s: got %v, want %v", at, got, want)
		}
		for i := range w {
			if err := match(g[i], w[i], fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
		return nil
	}
	if got != want {
		return fmt.Errorf("%s: got %v, want %v", at, got, want)
	}
	return nil
}
