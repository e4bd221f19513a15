// Package scripttest checks what can be known of Lua scripts without running them.
package scripttest

import (
	"slices"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"github.com/chatd/chatd/queue/script"
)

// globals are what a script finds in Redis. Everything else must be a local: a misspelt name, or one that an included file
// did not bring, is a global that only fails when that line runs.
var globals = strings.Fields("KEYS ARGV redis ipairs pairs math select string table tonumber tostring type unpack")

// upvaluesMax is how many variables from outside a function has at most: Lua 5.1 compiles no more, and a closure pays for
// each when it is made. A function with more than 200 locals at the same time does not compile here either.
const upvaluesMax = 60

// Check reports names that a script does not bind, and functions that Redis could not compile.
func Check(t *testing.T, scripts []*script.Script) {
	t.Helper()
	if len(scripts) == 0 {
		t.Fatal("there are no scripts: the test would check nothing")
	}
	for _, s := range scripts {
		text := s.Text()
		if strings.HasPrefix(text, "#!") { // flags, which Redis takes off
			_, text, _ = strings.Cut(text, "\n")
		}
		chunk, err := parse.Parse(strings.NewReader(text), s.Name)
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		proto, err := lua.Compile(chunk, s.Name)
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		check(t, s.Name, proto)
	}
}

func check(t *testing.T, name string, proto *lua.FunctionProto) {
	t.Helper()
	if proto.NumUpvalues > upvaluesMax {
		t.Errorf("%s:%d: a function with %d upvalues", name, proto.LineDefined, proto.NumUpvalues)
	}
	for i, instruction := range proto.Code {
		op := int(instruction >> 26)
		if op != lua.OP_GETGLOBAL && op != lua.OP_SETGLOBAL {
			continue
		}
		global := proto.Constants[instruction&0x3ffff].String()
		if op == lua.OP_SETGLOBAL || !slices.Contains(globals, global) {
			t.Errorf("%s:%d: %s is not bound", name, proto.DbgSourcePositions[i], global)
		}
	}
	for _, inner := range proto.FunctionPrototypes {
		check(t, name, inner)
	}
}
