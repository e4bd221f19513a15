package embedded

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/alicebob/miniredis/v2/server"
)

// peer is the state of a connection at the gate.
type peer struct {
	inner      bool         // a peer of the gate itself: everything passes
	run        *server.Peer // shares the connection's context
	reply      bytes.Buffer // the answers to run
	multi      bool
	queue      []queued // the commands of the MULTI
	dirty      bool     // a command of the MULTI was refused
	needsClock bool     // the MULTI contains scripts or TIME
}

// queued is a command that waits for EXEC.
type queued struct {
	cmd  string
	args []string
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

// gate is called before every command, on the connection's goroutine; true means that the command is already answered.
// Commands of a script have a separate peer, on the goroutine that holds order.
func (s *Store) gate(c *server.Peer, cmd string, args ...string) bool {
	if s.lua != nil && c == s.lua.peer {
		return s.nested(c, cmd, args)
	}
	p, known := s.peers.Load(c)
	if !known {
		// A connection's first command has no context. A command of the script that startLua lets miniredis run has one.
		if c.Ctx != nil {
			if s.lua == nil {
				s.nestedCtx = c.Ctx
				return false
			}
			return s.nested(c, cmd, args)
		}
		p = s.newPeer(c)
	}
	return s.top(c, p.(*peer), cmd, args)
}

// newPeer registers a connection, with a second peer that shares its context and collects replies.
func (s *Store) newPeer(c *server.Peer) *peer {
	p := &peer{}
	p.run = newPeer(&p.reply)
	s.peers.Store(p.run, &peer{inner: true})
	s.srv.Dispatch(p.run, []string{"PING"}) // creates the context
	p.run.Flush()
	p.reply.Reset()
	c.Ctx = p.run.Ctx
	s.peers.Store(c, p)
	c.OnDisconnect(func() {
		s.peers.Delete(c)
		s.peers.Delete(p.run)
	})
	return p
}

// top decides about a command from a connection.
func (s *Store) top(c *server.Peer, p *peer, cmd string, args []string) bool {
	if p.inner {
		return false
	}
	switch kind := classes[cmd]; kind {
	case reads, random, publishes, clock:
		switch {
		case p.multi:
			return s.enqueue(c, p, cmd, args)
		case kind == clock:
			s.inOrder(c, p, cmd)
			return true
		case isSortedSet(cmd):
			s.m.Lock()
			answer := s.sets.run(cmd, args)
			s.m.Unlock()
			c.WriteRaw(string(appendReply(nil, answer, c.Resp3)))
			return true
		}
		return false
	case session:
		return s.session(c, p, cmd, args)
	case readScripts:
		if p.multi {
			return s.enqueue(c, p, cmd, args)
		}
		return s.script(c, p, strings.TrimSuffix(cmd, "_RO"), args, true)
	case scripts:
		return s.script(c, p, cmd, args, false)
	case writes:
		return refuse(c, p, "ERR the embedded store accepts writes from scripts only: "+cmd)
	}
	if s.srv.IsRegisteredCommand(cmd) {
		return refuse(c, p, "ERR not supported by the embedded store: "+cmd)
	}
	return false // miniredis answers that it is unknown
}

func refuse(c *server.Peer, p *peer, message string) bool {
	if p.multi {
		p.dirty = true
	}
	c.WriteError(message)
	return true
}

// session tracks what a connection's MULTI contains, and the script sources that it loads.
func (s *Store) session(c *server.Peer, p *peer, cmd string, args []string) bool {
	switch cmd {
	case "MULTI":
		if len(args) == 0 {
			p.multi = true
		}
		return false
	case "DISCARD":
		if len(args) == 0 {
			p.multi, p.queue, p.dirty, p.needsClock = false, nil, false, false
		}
		return false
	case "EXEC":
		return p.multi && len(args) == 0 && s.exec(c, p)
	}
	if p.multi {
		return refuse(c, p, "ERR the embedded store allows only reads in MULTI: "+cmd)
	}
	switch cmd {
	case "SELECT":
		if len(args) == 1 && args[0] != "0" {
			return refuse(c, p, "ERR the embedded store has only one database: SELECT "+args[0])
		}
	case "SCRIPT":
		return s.aboutScripts(c, p, args)
	}
	return false
}

// aboutScripts answers SCRIPT. miniredis need not know any script, because it runs none but that of startLua.
func (s *Store) aboutScripts(c *server.Peer, p *peer, args []string) bool {
	var verb string
	if len(args) > 0 {
		verb = strings.ToUpper(args[0])
	}
	switch {
	case verb == "LOAD" && len(args) == 2:
		// A node loads all of its scripts at each start, and runs only some of them: those are compiled.
		if message := s.learn(args[1], true); message != "" {
			return refuse(c, p, message)
		}
		c.WriteBulk(hashSource(args[1]))
	case verb == "EXISTS" && len(args) > 1:
		s.order.Lock()
		defer s.order.Unlock()
		c.WriteLen(len(args) - 1)
		for _, sha := range args[1:] {
			known := 0
			if s.scripts[sha] != nil {
				known = 1
			}
			c.WriteInt(known)
		}
	case verb == "FLUSH":
		s.order.Lock()
		defer s.order.Unlock()
		clear(s.scripts)
		c.WriteOK()
	default:
		return refuse(c, p, "ERR the embedded store knows SCRIPT LOAD, EXISTS and FLUSH only")
	}
	return true
}

// learn keeps a script. later means that it is compiled when it first runs.
func (s *Store) learn(source string, later bool) (message string) {
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
func (s *Store) compile(one *script) (message string) {
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
func (s *Store) learnEval(cmd string, args []string) (message string) {
	if cmd != "EVAL" || len(args) == 0 {
		return ""
	}
	s.order.Lock()
	known := s.scripts[hashSource(args[0])] != nil
	s.order.Unlock()
	if known {
		return ""
	}
	return s.learn(args[0], false)
}

const noScript = "NOSCRIPT No matching script. Please use EVAL."

// scriptKeys returns how many of the arguments after the first two are keys.
func scriptKeys(cmd string, args []string) (keys int, message string) {
	if len(args) < 2 {
		return 0, "ERR wrong number of arguments for '" + strings.ToLower(cmd) + "' command"
	}
	keys, err := strconv.Atoi(args[1])
	switch {
	case err != nil:
		message = string(errInt)
	case keys < 0:
		message = "ERR Number of keys can't be negative"
	case keys > len(args)-2:
		message = "ERR Number of keys can't be greater than number of args"
	}
	return keys, message
}

// script runs EVAL or EVALSHA.
func (s *Store) script(c *server.Peer, p *peer, cmd string, args []string, readOnly bool) bool {
	if p.multi {
		return refuse(c, p, "ERR the embedded store accepts writing scripts outside MULTI only: "+cmd)
	}
	keys, message := scriptKeys(cmd, args)
	if message != "" {
		return refuse(c, p, message)
	}
	if message := s.learnEval(cmd, args); message != "" {
		return refuse(c, p, message)
	}
	sha := args[0]
	if cmd == "EVAL" {
		sha = hashSource(sha)
	}
	s.order.Lock()
	defer s.order.Unlock()
	found := s.scripts[sha]
	if found == nil {
		return refuse(c, p, noScript)
	}
	r := &call{readOnly: readOnly, script: found, us: s.nowUs(), keys: keys, args: args[2:], journaled: s.j == nil}
	answer, message := s.runScript(r)
	if s.j != nil && r.wrote {
		s.j.digest = r.digest
	}
	if r.err != nil {
		message = "MISCONF the journal of the embedded store cannot be written, nothing was changed: " + r.err.Error()
	} else if message != "" {
		message += " script: " + sha
	}
	if message != "" {
		c.WriteError(message)
		return true
	}
	c.WriteRaw(string(appendAnswer(nil, answer, c.Resp3)))
	return true
}

// runScript runs a script at its time, under miniredis' own lock, so that nobody sees it half done. The caller holds
// order.
func (s *Store) runScript(r *call) (answer lua.LValue, message string) {
	if message := s.compile(r.script); message != "" {
		return lua.LNil, message
	}
	s.m.SetTime(time.UnixMicro(r.us))
	s.m.Lock()
	defer s.m.Unlock()
	return s.runLocked(r)
}

// runLocked runs a compiled script. The caller holds miniredis' own lock, too.
func (s *Store) runLocked(r *call) (answer lua.LValue, message string) {
	s.cur = r
	defer func() { s.cur = nil }()
	return s.lua.run(r.script.f, r.args[:r.keys], r.args[r.keys:])
}

// inOrder lets miniredis run a command that asks for the time, in order with the scripts.
func (s *Store) inOrder(c *server.Peer, p *peer, cmd string) {
	s.order.Lock()
	defer s.order.Unlock()
	s.m.SetTime(time.UnixMicro(s.nowUs()))
	s.cur = &call{readOnly: true}
	defer func() { s.cur = nil }()
	s.dispatch(c, p, cmd, nil)
	c.WriteRaw(p.reply.String())
}

// dispatch lets miniredis run a command in the connection's context, and collects its answer in p.reply. c is nil if
// nobody needs the answer.
func (s *Store) dispatch(c *server.Peer, p *peer, cmd string, args []string) {
	p.reply.Reset()
	if p.reply.Cap() > idleBytesMax {
		p.reply = bytes.Buffer{}
	}
	if c != nil {
		p.run.Resp3 = c.Resp3
	}
	s.srv.Dispatch(p.run, append([]string{cmd}, args...))
	p.run.Flush()
}

// nested decides about a command that a script calls. The caller holds order and miniredis' own lock, so nobody else
// sees what the script has done so far.
func (s *Store) nested(c *server.Peer, cmd string, args []string) bool {
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
func (s *Store) direct(l *lua.LState, cmd string, args []string) (v lua.LValue, failed bool) {
	if message := s.permit(cmd, args); message != "" {
		return errTable(l, message), true
	}
	return toLua(l, s.sets.run(cmd, args))
}

// permit returns why the running script must not call a command, or "". Before a command that may change anything, it writes the
// running call to the journal.
func (s *Store) permit(cmd string, args []string) (message string) {
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
func (s *Store) journalCall(r *call) error {
	if r.journaled || r.err != nil {
		return r.err
	}
	before := s.j.size
	if r.err = s.j.appendCall(r.script, r.us, r.keys, r.args); r.err != nil {
		s.log.Error("embedded store: refused a call because the journal cannot be written", "error", r.err)
		return r.err
	}
	r.journaled = true
	s.appended.Store(s.j.seq)
	s.grow(s.j.size-before, 1)
	return nil
}
