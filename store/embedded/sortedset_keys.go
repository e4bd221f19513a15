package embedded

import (
	"bytes"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/alicebob/miniredis/v2/fpconv"
	"github.com/alicebob/miniredis/v2/server"
)

// sortedSets holds the sorted sets of the store. miniredis has a sorted set with a single member, placeholder, under the same
// key, so it answers TYPE, EXISTS, SCAN and WRONGTYPE itself. Only commands that remove or move keys of any type need work here.
//
// Invariant: a key is in byKey if and only if it is a sorted set for miniredis.
//
// miniredis' own lock guards it, as it guards the keys of miniredis.
type sortedSets struct {
	byKey map[string]*sortedSet
	srv   *server.Server
	// inside talks to miniredis without passing the gate, while its lock is held.
	inside *server.Peer
	out    bytes.Buffer // the answers to inside
}

const placeholder = ""

func newSortedSets(srv *server.Server, inside func(*bytes.Buffer) *server.Peer) *sortedSets {
	s := &sortedSets{byKey: map[string]*sortedSet{}, srv: srv}
	s.inside = inside(&s.out)
	return s
}

// ask runs a command in miniredis. The answer is valid until the next call.
func (s *sortedSets) ask(cmd string, args ...string) []byte {
	s.out.Reset()
	if s.out.Cap() > idleBytesMax {
		s.out = bytes.Buffer{}
	}
	s.srv.Dispatch(s.inside, append([]string{cmd}, args...))
	s.inside.Flush()
	return s.out.Bytes()
}

// keyTarget is the key of one command.
type keyTarget struct {
	*sortedSets
	key string
}

func (k keyTarget) get() (*sortedSet, failure) {
	if z := k.byKey[k.key]; z != nil {
		return z, ""
	}
	if answer := k.ask("ZCARD", k.key); answer[0] == '-' {
		return nil, errWrongType
	}
	return nil, ""
}

func (k keyTarget) create() (*sortedSet, failure) {
	z, f := k.get()
	if z == nil && f == "" {
		k.ask("ZADD", k.key, "0", placeholder)
		z = newSortedSet()
		k.byKey[k.key] = z
	}
	return z, f
}

// run answers a command about a sorted set.
func (s *sortedSets) run(cmd string, args []string) reply {
	c := sortedSetCommands[cmd]
	if f := c.wrongCount(cmd, args); f != "" {
		return f
	}
	answer := c.run(keyTarget{s, args[0]}, args[1:])
	if z := s.byKey[args[0]]; z != nil && z.len() == 0 {
		delete(s.byKey, args[0])
		s.ask("DEL", args[0])
	}
	return answer
}

// follow lets miniredis run a command that may remove, replace or move keys of any type, and does the same here. followed
// is false, and nothing was done, if the command concerns no sorted set.
func (s *sortedSets) follow(cmd string, args []string) (answer []byte, followed bool) {
	var keys []string // the command may remove or replace them
	switch cmd {
	case "DEL", "UNLINK":
		keys = args
	case "SET":
		keys = args[:min(1, len(args))]
	case "MSET":
		for i := 0; i < len(args); i += 2 {
			keys = append(keys, args[i])
		}
	case "RENAME", "RENAMENX":
		keys = args[:min(2, len(args))]
	}
	concerned := false
	for _, key := range keys {
		concerned = concerned || s.byKey[key] != nil
	}
	if !concerned {
		return nil, false
	}
	answer = s.ask(cmd, args...)
	switch cmd {
	case "RENAME", "RENAMENX":
		if answer[0] == '+' || bytes.HasPrefix(answer, []byte(":1")) {
			s.renamed(args[0], args[1])
		}
		return answer, true
	}
	answer = bytes.Clone(answer)
	for _, key := range keys {
		if s.byKey[key] != nil && string(s.ask("TYPE", key)) != "+zset\r\n" {
			delete(s.byKey, key)
		}
	}
	return answer, true
}

// renamed notes that a key of any type has another name.
func (s *sortedSets) renamed(from, to string) {
	z := s.byKey[from]
	delete(s.byKey, from)
	delete(s.byKey, to)
	if z != nil {
		s.byKey[to] = z
	}
}

// appendReply encodes an answer for a connection.
func appendReply(b []byte, r reply, resp3 bool) []byte {
	switch r := r.(type) {
	case nil:
		if resp3 {
			return append(b, "_\r\n"...)
		}
		return append(b, "$-1\r\n"...)
	case failure:
		return append(append(append(b, '-'), r...), "\r\n"...)
	case int:
		return appendLine(b, ':', r)
	case string:
		return appendBulk(b, r)
	case float64:
		return appendScore(b, r, resp3)
	case []string:
		b = appendLine(b, '*', len(r))
		for _, s := range r {
			b = appendBulk(b, s)
		}
	case []any:
		b = appendLine(b, '*', len(r))
		for _, e := range r {
			b = appendReply(b, e, resp3)
		}
	case []scored:
		if resp3 {
			b = appendLine(b, '*', len(r))
		} else {
			b = appendLine(b, '*', 2*len(r))
		}
		for _, e := range r {
			if resp3 {
				b = appendLine(b, '*', 2)
			}
			b = appendScore(appendBulk(b, e.member), e.score, resp3)
		}
	}
	return b
}

func appendLine(b []byte, kind byte, n int) []byte {
	return append(strconv.AppendInt(append(b, kind), int64(n), 10), "\r\n"...)
}

func appendBulk(b []byte, s string) []byte {
	return append(append(appendLine(b, '$', len(s)), s...), "\r\n"...)
}

func appendScore(b []byte, score float64, resp3 bool) []byte {
	if resp3 {
		return append(append(append(b, ','), formatScore(score)...), "\r\n"...)
	}
	return appendBulk(b, formatScore(score))
}

// formatScore formats a score as Redis does: an exact integer has all its digits, though the shortest form of 100,000,000
// is 1e+8.
func formatScore(score float64) string {
	if isExact(score) {
		return strconv.FormatInt(int64(score), 10)
	}
	return fpconv.Dtoa(score)
}

// toLua converts an answer to what redis.call returns for it.
func toLua(l *lua.LState, r reply) (v lua.LValue, failed bool) {
	switch r := r.(type) {
	case failure:
		return errTable(l, string(r)), true
	case int:
		return lua.LNumber(r), false
	case string:
		return lua.LString(r), false
	case float64:
		return lua.LString(formatScore(r)), false
	case []string:
		t := l.CreateTable(len(r), 0)
		for _, s := range r {
			t.Append(lua.LString(s))
		}
		return t, false
	case []any:
		t := l.CreateTable(len(r), 0)
		for _, e := range r {
			v, _ := toLua(l, e)
			t.Append(v)
		}
		return t, false
	case []scored:
		t := l.CreateTable(2*len(r), 0)
		for _, e := range r {
			t.Append(lua.LString(e.member))
			t.Append(lua.LString(formatScore(e.score)))
		}
		return t, false
	}
	return lua.LFalse, false
}

func isSortedSet(cmd string) bool {
	return strings.HasPrefix(cmd, "Z") && sortedSetCommands[cmd].run != nil
}
