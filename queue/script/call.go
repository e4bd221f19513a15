package script

import (
	"errors"
	"fmt"
	"slices"
)

// Call is one run of a script. Its methods return the call with more of its values, each under its name in the header.
// A name that is unknown, given twice or missing is an error of the whole call, and of every call like it: a
// programming error that the first test of that call finds.
type Call struct {
	Script *Script
	Keys   []string
	Args   []any

	nextKey, nextArg int // the slots that are most likely given next
	missing          int
	keyRest, argRest int // which rest was given last: they follow each other
	err              error
}

// Err returns why the call cannot be sent.
func (c Call) Err() error {
	switch {
	case c.err != nil:
		return c.err
	case c.missing > 0:
		return fmt.Errorf("script %s: no value for %v", c.Script.Name, c.unset())
	}
	return nil
}

// Key sets the key of this name.
func (c Call) Key(name, value string) Call {
	slots := c.Script.keys.slots
	for c.nextKey < len(slots) && c.Keys[c.nextKey] != "" {
		c.nextKey++
	}
	i := c.nextKey
	if i >= len(slots) || slots[i].name != name {
		i = slices.IndexFunc(slots, func(s slot) bool { return s.name == name })
	}
	if i < 0 || c.Keys[i] != "" || value == "" {
		return c.wrong("key", name, value)
	}
	c.Keys[i] = value
	c.missing--
	return c
}

// Beside puts in the place of a key that has been set the one that has more behind it.
func (c Call) Beside(name, more string) Call {
	i := slices.IndexFunc(c.Script.keys.slots, func(s slot) bool { return s.name == name })
	if i < 0 || c.Keys[i] == "" {
		return c.wrong("key", name, more)
	}
	c.Keys[i] += more
	return c
}

// Arg sets the argument of this name: a bool if the header says flag, an integer if it says int, else a text, bytes or
// an integer. A pointer to a text or an integer saves an allocation; the value stays as it is until the call has been
// answered.
func (c Call) Arg(name string, value any) Call {
	slots := c.Script.args.slots
	i := c.nextArg
	if i >= len(slots) || slots[i].name != name {
		i = slices.IndexFunc(slots, func(s slot) bool { return s.name == name })
	}
	if i < 0 || c.Args[i] != nil {
		return c.wrong("argument", name, value)
	}
	is := text
	switch v := value.(type) {
	case bool:
		is, value = flag, "0"
		if v {
			value = "1"
		}
	case int, int64, *int64:
		is = number
	case string, *string, []byte:
	default:
		return c.wrong("argument", name, value)
	}
	if want := slots[i].kind; is != want && (want != text || is == flag) {
		return c.wrong("argument", name, value)
	}
	c.Args[i] = value
	c.nextArg = i + 1
	c.missing--
	return c
}

// More appends keys to a rest: single values, or one row in the order of its names.
func (c Call) More(rest string, row ...string) Call {
	r, ok := c.Script.keys.next(&c.keyRest, rest)
	if !ok || len(r.row) > 0 && len(row) != 2*len(r.row) {
		return c.wrong("keys", rest, len(row))
	}
	c.Keys = more(&c, c.Keys, r, "key", row)
	return c
}

// MoreArgs appends arguments to a rest, as More does with keys. They may be pointers, as those of Arg.
func (c Call) MoreArgs(rest string, row ...any) Call {
	r, ok := c.Script.args.next(&c.argRest, rest)
	if !ok || len(r.row) > 0 && len(row) != 2*len(r.row) {
		return c.wrong("arguments", rest, len(row))
	}
	c.Args = more(&c, c.Args, r, "argument", row)
	return c
}

// more appends values to a rest, or a row, whose names it checks and drops.
func more[T any](c *Call, to []T, r rest, what string, row []T) []T {
	if len(r.row) == 0 {
		return append(to, row...)
	}
	for i, name := range r.row {
		if any(row[2*i]) != any(name) {
			*c = c.wrong(what+" of "+r.name, name, nil)
		}
		to = append(to, row[2*i+1])
	}
	return to
}

// List appends texts as arguments of a rest.
func (c Call) List(rest string, values []string) Call {
	r, ok := c.Script.args.next(&c.argRest, rest)
	if !ok || len(r.row) > 0 {
		return c.wrong("arguments", rest, len(values))
	}
	c.Args = slices.Grow(c.Args, len(values))
	for _, value := range values {
		c.Args = append(c.Args, value)
	}
	return c
}

// next finds a rest, starting with the one that was given last.
func (s *section) next(from *int, name string) (rest, bool) {
	for i := *from; i < len(s.rests); i++ {
		if s.rests[i].name == name {
			*from = i
			return s.rests[i], true
		}
	}
	return rest{}, false
}

// wrong records a mistake. The value may be content, so the error does not show it.
func (c Call) wrong(what, name string, value any) Call {
	c.err = errors.Join(c.err, fmt.Errorf("script %s: the %s %s cannot be given here (%T)", c.Script.Name, what, name, value))
	return c
}

// unset lists the names without a value.
func (c Call) unset() (names []string) {
	for i, s := range c.Script.keys.slots {
		if i < len(c.Keys) && c.Keys[i] == "" {
			names = append(names, s.name)
		}
	}
	for i, s := range c.Script.args.slots {
		if c.Args[i] == nil {
			names = append(names, s.name)
		}
	}
	return names
}
