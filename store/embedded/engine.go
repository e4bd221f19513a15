package embedded

import (
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/alicebob/miniredis/v2/server"
)

// engine runs scripts, one at a time. Held from start to end of each, order makes calls run in the order of the journal.
type engine struct {
	*memory
	journals *journals

	// Guarded by order.
	lua     *interpreter
	cur     *call
	scripts map[string]*script // by sha
	scratch []byte
}

// script is a script source, ready to run.
type script struct {
	sha    string
	source string
	f      *lua.LFunction // nil before its first run
}

// call is the script, TIME or EXEC that is running.
type call struct {
	readOnly bool
	script   *script
	us       int64
	keys     int
	args     []string // keys first

	journaled bool
	err       error // from the journal; the call is abandoned
	wrote     bool
	digest    uint32
}

// learn keeps a script. later means that it is compiled when it first runs.
func (s *engine) learn(source string, later bool) (message string) {
	s.order.Lock()
	defer s.order.Unlock()
	sha := hashSource(source)
	if s.scripts[sha] != nil {
		return ""
	}
	// gopher-lua's random generator is shared by the process, so a replay would draw other numbers.
	if strings.Contains(source, "math.random") {
		return "ERR the embedded store refuses scripts with math.random: a replay would draw different numbers"
	}
	if len(s.scripts) >= scriptsMax {
		return "ERR too many scripts; pass values as arguments"
	}
	learnt := &script{sha: sha, source: source}
	if !later {
		if message := s.compile(learnt); message != "" {
			return message
		}
	}
	s.scripts[sha] = learnt
	return ""
}

// compile makes a script ready to run. The caller holds order.
func (s *engine) compile(one *script) (message string) {
	if one.f != nil {
		return ""
	}
	f, err := s.lua.compile(one.source)
	if err != nil {
		return "ERR Error compiling script: " + firstLine(err.Error())
	}
	one.f = f
	return ""
}

// learnEval learns the script of an EVAL.
func (s *engine) learnEval(cmd string, args []string) (message string) {
	if cmd != "EVAL" || len(args) == 0 {
		return ""
	}
	return s.learn(args[0], false)
}

// runScript runs a script at its time, under miniredis' own lock, so that nobody sees it half done. The caller holds
// order.
func (s *engine) runScript(r *call) (answer lua.LValue, message string) {
	if message := s.compile(r.script); message != "" {
		return lua.LNil, message
	}
	s.m.SetTime(time.UnixMicro(r.us))
	s.m.Lock()
	defer s.m.Unlock()
	return s.runLocked(r)
}

// runLocked runs a compiled script. The caller holds miniredis' own lock, too.
func (s *engine) runLocked(r *call) (answer lua.LValue, message string) {
	s.cur = r
	defer func() { s.cur = nil }()
	return s.lua.run(r.script.f, r.args[:r.keys], r.args[r.keys:])
}

// nested decides about a command that a script calls. The caller holds order and miniredis' own lock, so nobody else
// sees what the script has done so far.
func (s *engine) nested(c *server.Peer, cmd string, args []string) bool {
	if message := s.permit(cmd, args); message != "" {
		c.WriteError(message)
		return true
	}
	if isSortedSet(cmd) {
		c.WriteRaw(string(appendReply(nil, s.sets.run(cmd, args), c.Resp3)))
		return true
	}
	if classes[cmd] == writes {
		if answer, followed := s.sets.follow(cmd, args); followed {
			c.WriteRaw(string(answer))
			return true
		}
	}
	return false
}

// direct runs a command about a sorted set for a script, without encoding anything.
func (s *engine) direct(l *lua.LState, cmd string, args []string) (v lua.LValue, failed bool) {
	if message := s.permit(cmd, args); message != "" {
		return errTable(l, message), true
	}
	return toLua(l, s.sets.run(cmd, args))
}

// permit returns why the running script must not call a command, or "". Before a command that may change anything, it writes the
// running call to the journal.
func (s *engine) permit(cmd string, args []string) (message string) {
	r := s.cur
	switch classes[cmd] {
	case reads, clock:
		return ""
	case random:
		if r.readOnly {
			return ""
		}
		return "ERR the embedded store allows no random commands in scripts that may write: " + cmd
	case writes, publishes:
		if r.readOnly {
			return "ERR Write commands are not allowed from read-only scripts: " + cmd
		}
		if message := refused(cmd, args); message != "" {
			return message
		}
	default:
		if s.srv.IsRegisteredCommand(cmd) {
			return "ERR not supported in scripts of the embedded store: " + cmd
		}
		return ""
	}
	if err := s.journalCall(r); err != nil {
		return "MISCONF " + err.Error()
	}
	r.wrote = true
	r.digest, s.scratch = digestCommand(r.digest, s.scratch, cmd, args)
	return ""
}

// journalCall writes the running call to the journal, before the first thing that it changes.
func (s *engine) journalCall(r *call) error {
	if r.journaled || r.err != nil {
		return r.err
	}
	before := s.journals.j.size
	if r.err = s.journals.j.appendCall(r.script, r.us, r.keys, r.args); r.err != nil {
		s.log.Error("embedded store: refused a call because the journal cannot be written", "error", r.err)
		return r.err
	}
	r.journaled = true
	s.journals.appended.Store(s.journals.j.seq)
	s.journals.grow(s.journals.j.size-before, 1)
	return nil
}
