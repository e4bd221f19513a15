package script

import (
	"fmt"
	"slices"
	"strings"
)

// Names defines how scripts call the keys of a key set: the single ones, and those that come as a group, under
// `name:group` as in a header.
type Names[K any] struct {
	Keys   map[string]func(K) string
	Groups map[string]func(K) []string
}

// Step is a script that runs on a key set: On fills in every key whose name the set knows.
type Step[K any] struct {
	*Script
	known  []func(K) string // of each slot; nil: in a group, or for the caller to set
	groups []groupOf[K]
	whole  func(K) []string // if the keys are one group and nothing else
}

type groupOf[K any] struct {
	at, n int
	keys  func(K) []string
}

// Bind looks up the names of a script in a key set, once. It panics if the set does not know a group: callers may only
// set single keys.
func Bind[K any](s *Script, names Names[K]) *Step[K] {
	step := &Step[K]{Script: s, known: make([]func(K) string, len(s.keys.slots))}
	for i, one := range s.keys.slots {
		step.known[i] = names.Keys[one.name]
		s.known[one.name] = step.known[i] != nil || strings.Contains(one.name, ".")
	}
	for _, g := range s.keys.groups {
		keys := names.Groups[g.name+":"+g.of]
		if keys == nil {
			panic(fmt.Sprintf("script %s: its key set knows no %s:%s", s.Name, g.name, g.of)) //nolint:forbidigo // like Load
		}
		step.groups = append(step.groups, groupOf[K]{g.at, g.n, keys})
	}
	switch {
	case len(s.keys.slots) == 0 && len(s.keys.rests) == 1:
		step.whole = names.Groups[s.keys.rests[0].name+":"+s.keys.rests[0].of]
		s.known[s.keys.rests[0].name] = step.whole != nil
	case len(step.groups) == 1 && step.groups[0].n == len(s.keys.slots) && len(s.keys.rests) == 0:
		step.whole = step.groups[0].keys
	}
	return step
}

// spare is room for the first values of a rest.
const spare = 8

// On starts a call with the keys that k knows.
func (s *Step[K]) On(k K) Call { return s.Sized(k, spare) }

// Sized is On with room for about `more` values of the rests, keys or arguments.
func (s *Step[K]) Sized(k K, more int) Call { return s.begin(k, s.keys.room(more), s.args.room(more)) }

// Rows is On with room for n rows of each rest.
func (s *Step[K]) Rows(k K, n int) Call { return s.begin(k, s.keys.rows(n), s.args.rows(n)) }

// begin starts a call with room for values of the rests.
func (s *Step[K]) begin(k K, moreKeys, moreArgs int) Call {
	c := Call{Script: s.Script, missing: len(s.args.slots)}
	if s.whole != nil {
		c.Keys = slices.Clip(s.whole(k))
		c.missing += max(len(s.known)-len(c.Keys), 0)
	} else {
		c.Keys = make([]string, len(s.known), len(s.known)+moreKeys)
		c.missing += len(s.known)
		for i, key := range s.known {
			if key != nil {
				c.Keys[i] = key(k)
				c.missing--
			}
		}
		for _, g := range s.groups {
			c.missing -= copy(c.Keys[g.at:g.at+g.n], g.keys(k))
		}
	}
	if room := len(s.args.slots) + moreArgs; room > 0 {
		c.Args = make([]any, len(s.args.slots), room)
	}
	return c
}

func (s *section) room(more int) int {
	if len(s.rests) == 0 {
		return 0
	}
	return more
}

// rows is how many values n rows of each rest are.
func (s *section) rows(n int) (values int) {
	for _, r := range s.rests {
		values += n * max(1, len(r.row))
	}
	return values
}
