package embedded

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	luajson "github.com/alicebob/miniredis/v2/gopher-json"
	"github.com/alicebob/miniredis/v2/server"
)

// interpreter runs scripts. miniredis makes a new Lua state for every call, which costs ten times what an average
// script does. Scripts run one at a time here, so one state with its functions compiled once is enough. Like everything
// about scripts, it is guarded by Store.order.
//
// A script has what it would have in Redis: KEYS, ARGV, redis.*, the base, string, table and math libraries and cjson.
// It cannot create globals, so it leaves nothing behind for the next.
type interpreter struct {
	srv    *server.Server
	values values
	// direct runs a command about a sorted set.
	direct func(l *lua.LState, cmd string, args []string) (v lua.LValue, failed bool)
	state  *lua.LState
	peer   *server.Peer
	out    bytes.Buffer // the answers to peer
	in     bytes.Reader
	reply  *bufio.Reader
	uses   int // of state. `make test` watches no memory of gopher-lua for races, and so this, which each use of it writes
}

// registrySlotsMax bounds a script's stack, and so how many values unpack may pass to one command.
const registrySlotsMax = 64 << 10

// newInterpreter makes a state whose commands run in ctx: the context of a script's commands, in which miniredis knows
// that its lock is held.
func newInterpreter(s *engine, ctx any) *interpreter {
	in := &interpreter{srv: s.srv, values: s.values, direct: s.direct}
	in.peer = newPeer(&in.out)
	in.peer.Ctx = ctx
	in.reply = bufio.NewReader(&in.in)
	l := lua.NewState(lua.Options{SkipOpenLibs: true, RegistrySize: 2 << 10, RegistryMaxSize: registrySlotsMax, RegistryGrowStep: 4 << 10})
	for name, open := range map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable,
		lua.StringLibName: lua.OpenString, lua.MathLibName: lua.OpenMath,
	} {
		l.Push(l.NewFunction(open))
		l.Push(lua.LString(name))
		l.Call(1, 0)
	}
	l.Push(l.NewFunction(luajson.Loader))
	l.Call(0, 1)
	l.SetGlobal("cjson", l.Get(-1))
	l.SetTop(0)
	redis := l.NewTable()
	for name, f := range map[string]lua.LGFunction{
		"call": in.call, "pcall": in.pcall, "error_reply": errorReply, "status_reply": statusReply, "sha1hex": sha1hex,
		"log": func(*lua.LState) int { return 0 },
	} {
		redis.RawSetString(name, l.NewFunction(f))
	}
	for i, name := range []string{"LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING"} {
		redis.RawSetString(name, lua.LNumber(i))
	}
	globals := l.G.Global
	globals.RawSetString("redis", redis)
	globals.RawSetString("server", redis)
	for _, name := range []string{"collectgarbage", "dofile", "loadfile", "module", "newproxy", "package", "print", "require"} {
		globals.RawSetString(name, lua.LNil)
	}
	meta := l.NewTable()
	meta.RawSetString("__newindex", l.NewFunction(func(l *lua.LState) int {
		l.RaiseError("Script attempted to create global variable '%s'", l.Get(2).String())
		return 0
	}))
	meta.RawSetString("__index", l.NewFunction(func(l *lua.LState) int {
		l.RaiseError("Script attempted to access nonexistent global variable '%s'", l.Get(2).String())
		return 0
	}))
	l.SetMetatable(globals, meta)
	in.state = l
	return in
}

// allowOOM may precede a script. It means nothing here, because memory is not limited.
const allowOOM = "#!lua flags=allow-oom"

// compile compiles the source of a script.
func (in *interpreter) compile(source string) (*lua.LFunction, error) {
	in.uses++
	if rest, ok := strings.CutPrefix(source, allowOOM+"\n"); ok {
		source = "\n" + rest
	}
	chunk, err := parse.Parse(strings.NewReader(source), "user_script")
	if err != nil {
		return nil, err
	}
	proto, err := lua.Compile(chunk, "user_script")
	if err != nil {
		return nil, err
	}
	return in.state.NewFunctionFromProto(proto), nil
}

// run calls a script and returns its answer, valid until the next call. message is the error that Redis would answer.
func (in *interpreter) run(f *lua.LFunction, keys, args []string) (answer lua.LValue, message string) {
	in.uses++
	l := in.state
	l.SetTop(0)
	in.set("KEYS", keys)
	in.set("ARGV", args)
	l.Push(f)
	if err := l.PCall(0, 1, nil); err != nil {
		l.SetTop(0)
		return lua.LNil, errorMessage(err)
	}
	answer = l.Get(-1)
	l.SetTop(0)
	return answer, ""
}

func (in *interpreter) set(name string, values []string) {
	t := in.state.CreateTable(len(values), 0)
	for _, v := range values {
		t.Append(lua.LString(v))
	}
	in.state.G.Global.RawSetString(name, t)
}

// errorMessage returns the answer to a failed script. An error of a command starts with its code, as in Redis.
func errorMessage(err error) string {
	var api *lua.ApiError
	if !errors.As(err, &api) || api.Object == nil {
		return "ERR " + firstLine(err.Error())
	}
	if t, ok := api.Object.(*lua.LTable); ok {
		if s, ok := t.RawGetString("err").(lua.LString); ok {
			return firstLine(string(s))
		}
	}
	return "ERR " + firstLine(api.Object.String())
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// call is redis.call: an error of the command ends the script.
func (in *interpreter) call(l *lua.LState) int {
	v, failed := in.command(l)
	if failed {
		l.Error(v, 0)
		return 0
	}
	l.Push(v)
	return 1
}

// pcall is redis.pcall: it returns an error of the command.
func (in *interpreter) pcall(l *lua.LState) int {
	v, _ := in.command(l)
	l.Push(v)
	return 1
}

func (in *interpreter) command(l *lua.LState) (v lua.LValue, failed bool) {
	n := l.GetTop()
	if n == 0 {
		return errTable(l, "ERR Please specify at least one argument for this redis.call"), true
	}
	args := make([]string, n)
	for i := range n {
		switch a := l.Get(i + 1).(type) {
		case lua.LString:
			args[i] = string(a)
		case lua.LNumber:
			args[i] = formatNumber(float64(a))
		default:
			return errTable(l, "ERR Lua redis lib command arguments must be strings or integers"), true
		}
	}
	if isSortedSet(args[0]) {
		return in.direct(l, args[0], args[1:])
	}
	if v, done := in.values.read(l, args[0], args[1:]); done {
		return v, false
	}
	in.out.Reset()
	in.srv.Dispatch(in.peer, args)
	in.peer.Flush()
	in.in.Reset(in.out.Bytes())
	in.reply.Reset(&in.in)
	reply, err := server.ParseReply(in.reply)
	if err != nil {
		return errTable(l, err.Error()), true
	}
	return fromRedis(l, reply), false
}

// formatNumber formats a number as Redis does, with "%.17g", except that an exact integer does not become 1e+17.
func formatNumber(f float64) string {
	if isExact(f) {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', 17, 64)
}

// isExact reports whether a number is an integer that a float64 tells from its neighbours.
func isExact(f float64) bool {
	return f == math.Trunc(f) && math.Abs(f) < 1<<53
}

func errTable(l *lua.LState, message string) *lua.LTable {
	t := l.CreateTable(0, 1)
	t.RawSetString("err", lua.LString(message))
	return t
}

func fromRedis(l *lua.LState, reply any) lua.LValue {
	switch r := reply.(type) {
	case nil:
		return lua.LFalse
	case int:
		return lua.LNumber(r)
	case string:
		return lua.LString(r)
	case server.Simple:
		t := l.CreateTable(0, 1)
		t.RawSetString("ok", lua.LString(r))
		return t
	case []any:
		t := l.CreateTable(len(r), 0)
		for _, e := range r {
			t.Append(fromRedis(l, e))
		}
		return t
	}
	return errTable(l, fmt.Sprintf("ERR unsupported reply of type %T", reply))
}

// appendAnswer encodes what a script returned.
func appendAnswer(b []byte, v lua.LValue, resp3 bool) []byte {
	switch v := v.(type) {
	case lua.LBool:
		if v {
			return appendLine(b, ':', 1)
		}
	case lua.LNumber:
		return appendLine(b, ':', int(v))
	case lua.LString:
		return appendBulk(b, string(v))
	case *lua.LTable:
		if s, ok := v.RawGetString("err").(lua.LString); ok {
			return appendText(b, '-', string(s))
		}
		if s, ok := v.RawGetString("ok").(lua.LString); ok {
			return appendText(b, '+', string(s))
		}
		n := 0
		for v.RawGetInt(n+1) != lua.LNil {
			n++
		}
		b = appendLine(b, '*', n)
		for i := range n {
			b = appendAnswer(b, v.RawGetInt(i+1), resp3)
		}
		return b
	}
	return appendReply(b, nil, resp3)
}

// appendText encodes a status or an error, which fit a line.
func appendText(b []byte, kind byte, text string) []byte {
	b = append(b, kind)
	for _, c := range []byte(text) {
		if c == '\r' || c == '\n' {
			c = ' '
		}
		b = append(b, c)
	}
	return append(b, "\r\n"...)
}

func errorReply(l *lua.LState) int {
	message := strings.TrimPrefix(l.CheckString(1), "-")
	if !strings.Contains(message, " ") {
		message = "ERR " + message
	}
	l.Push(errTable(l, message))
	return 1
}

func statusReply(l *lua.LState) int {
	t := l.CreateTable(0, 1)
	t.RawSetString("ok", lua.LString(l.CheckString(1)))
	l.Push(t)
	return 1
}

func sha1hex(l *lua.LState) int {
	l.Push(lua.LString(hashSource(l.CheckString(1))))
	return 1
}

func hashSource(source string) string {
	sum := sha1.Sum([]byte(source))
	return hex.EncodeToString(sum[:])
}
