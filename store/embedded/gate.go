package embedded

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/server"
)

// peer is what the gate knows of a connection.
type peer struct {
	inner      bool // the peer through which the gate itself calls a script: let everything through
	run        *server.Peer
	reply      bytes.Buffer // what run was answered
	multi      bool
	dirty      bool // a command of the MULTI was refused
	needsClock bool // the MULTI holds scripts or TIME
}

// call is the script, TIME or EXEC that runs now.
type call struct {
	readOnly bool
	sha      string
	source   string
	us       int64
	keys     int
	args     []string

	journaled bool
	err       error // of the journal; the call is given up
	wrote     bool
	digest    uint32
}

// gate is called before every command, on the connection's goroutine; true means that the command is answered. Calls
// from within a script come with a peer of their own, made for that script, on the goroutine that holds order.
func (s *Store) gate(c *server.Peer, cmd string, args ...string) bool {
	p, known := s.peers.Load(c)
	if !known {
		// A connection's first command comes without a context, a call from within a script never does.
		if c.Ctx != nil {
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
	s.srv.Dispatch(p.run, []string{"PING"}) // makes the context
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

// top decides about a command of a connection.
func (s *Store) top(c *server.Peer, p *peer, cmd string, args []string) bool {
	if p.inner {
		return false
	}
	switch classes[cmd] {
	case reads, random, publishes:
		return false
	case session:
		return s.session(c, p, cmd, args)
	case clock:
		if p.multi {
			p.needsClock = true
			return false
		}
		s.inOrder(c, p, cmd, args, &call{readOnly: true})
		return true
	case readScripts:
		// miniredis takes TIME for a write and would refuse it there, so the gate does the refusing of writes.
		cmd = strings.TrimSuffix(cmd, "_RO")
		if cmd == "EVAL" && len(args) > 0 {
			if message := s.learn(args[0]); message != "" {
				return refuse(c, p, message)
			}
		}
		if p.multi {
			p.needsClock = true
			s.run(c, p, cmd, args)
			return true
		}
		s.inOrder(c, p, cmd, args, &call{readOnly: true})
		return true
	case scripts:
		return s.script(c, p, cmd, args)
	case writes:
		return refuse(c, p, "ERR the embedded store takes changes from scripts only: "+cmd)
	}
	if s.srv.IsRegisteredCommand(cmd) {
		return refuse(c, p, "ERR not supported by the embedded store: "+cmd)
	}
	return false // miniredis says that it is unknown
}

func refuse(c *server.Peer, p *peer, message string) bool {
	if p.multi {
		p.dirty = true
	}
	c.WriteError(message)
	return true
}

// session follows what a connection's MULTI holds, and the sources that it loads.
func (s *Store) session(c *server.Peer, p *peer, cmd string, args []string) bool {
	switch cmd {
	case "MULTI":
		if len(args) == 0 {
			p.multi = true
		}
	case "DISCARD":
		if len(args) == 0 {
			p.multi, p.dirty, p.needsClock = false, false, false
		}
	case "EXEC":
		if len(args) == 0 {
			return s.exec(c, p)
		}
	case "SUBSCRIBE", "PSUBSCRIBE":
		if p.multi {
			return refuse(c, p, "ERR the embedded store subscribes outside MULTI only")
		}
	case "SELECT":
		if len(args) == 1 && args[0] != "0" {
			return refuse(c, p, "ERR the embedded store has one database: SELECT "+args[0])
		}
	case "SCRIPT":
		if len(args) == 2 && strings.EqualFold(args[0], "LOAD") {
			if message := s.learn(args[1]); message != "" {
				return refuse(c, p, message)
			}
		}
	}
	return false
}

func (s *Store) exec(c *server.Peer, p *peer) bool {
	dirty, needsClock := p.dirty, p.needsClock
	p.multi, p.dirty, p.needsClock = false, false, false
	switch {
	case dirty:
		s.run(nil, p, "DISCARD", nil)
		c.WriteError("EXECABORT Transaction discarded because of previous errors.")
		return true
	case needsClock:
		s.inOrder(c, p, "EXEC", nil, &call{readOnly: true})
		return true
	}
	return false
}

// learn keeps the source of a script, which its first call in a journal needs.
func (s *Store) learn(source string) (message string) {
	// The state of gopher-lua's generator is the process's, so a replay would draw other numbers.
	if strings.Contains(source, "math.random") {
		return "ERR the embedded store runs no scripts with math.random: a replay would draw other numbers"
	}
	sum := sha1.Sum([]byte(source))
	sha := hex.EncodeToString(sum[:])
	s.order.Lock()
	defer s.order.Unlock()
	if _, known := s.sources[sha]; !known && len(s.sources) >= scriptsMax {
		return "ERR too many scripts; hand values over as arguments"
	}
	s.sources[sha] = source
	return ""
}

// script runs EVAL or EVALSHA.
func (s *Store) script(c *server.Peer, p *peer, cmd string, args []string) bool {
	if p.multi {
		return refuse(c, p, "ERR the embedded store takes changes from scripts outside MULTI only: "+cmd)
	}
	if len(args) < 2 {
		return false
	}
	keys, err := strconv.Atoi(args[1])
	if err != nil || keys < 0 || keys > len(args)-2 {
		return false
	}
	sha := args[0]
	if cmd == "EVAL" {
		if message := s.learn(args[0]); message != "" {
			return refuse(c, p, message)
		}
		sum := sha1.Sum([]byte(args[0]))
		sha = hex.EncodeToString(sum[:])
	}
	s.inOrder(c, p, cmd, args, &call{sha: sha, keys: keys, args: args[2:]})
	return true
}

// inOrder runs a command in its place among the scripts, with the clock set, and answers it.
func (s *Store) inOrder(c *server.Peer, p *peer, cmd string, args []string, r *call) {
	func() {
		s.order.Lock()
		defer s.order.Unlock()
		r.us = s.nowUs()
		r.source = s.sources[r.sha]
		r.journaled = s.j == nil
		s.m.SetTime(time.UnixMicro(r.us))
		s.cur = r
		defer func() { s.cur = nil }()
		s.dispatch(c, p, cmd, args)
		if s.j != nil && r.wrote {
			s.j.digest = r.digest
		}
	}()
	if r.err != nil {
		c.WriteError("MISCONF the journal of the embedded store cannot be written, nothing was changed: " + r.err.Error())
		return
	}
	c.WriteRaw(p.reply.String())
}

// run has a command answered through the collecting peer; c is nil where nobody is to hear the answer.
func (s *Store) run(c *server.Peer, p *peer, cmd string, args []string) {
	s.dispatch(c, p, cmd, args)
	if c != nil {
		c.WriteRaw(p.reply.String())
	}
}

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

// nested decides about a command that a script calls. The caller holds order, and miniredis' own lock, so nobody else
// sees what the script has done so far.
func (s *Store) nested(c *server.Peer, cmd string, args []string) bool {
	r := s.cur
	switch kind := classes[cmd]; kind {
	case reads, clock:
		return false
	case random:
		if r.readOnly {
			return false
		}
		c.WriteError("ERR the embedded store has no random commands in scripts that may write: " + cmd)
		return true
	case writes, publishes:
		if r.readOnly {
			c.WriteError("ERR Write commands are not allowed from read-only scripts: " + cmd)
			return true
		}
		if message := refused(cmd, args); message != "" {
			c.WriteError(message)
			return true
		}
	default:
		if s.srv.IsRegisteredCommand(cmd) {
			c.WriteError("ERR not supported in scripts of the embedded store: " + cmd)
			return true
		}
		return false
	}
	if err := s.journalCall(r); err != nil {
		c.WriteError("MISCONF " + err.Error())
		return true
	}
	r.wrote = true
	r.digest, s.scratch = digestCommand(r.digest, s.scratch, cmd, args)
	return false
}

// journalCall writes the call that runs to the journal, before the first thing it changes.
func (s *Store) journalCall(r *call) error {
	if r.journaled || r.err != nil {
		return r.err
	}
	before := s.j.size
	if r.err = s.j.appendCall(r.sha, r.source, r.us, r.keys, r.args); r.err != nil {
		s.log.Error("embedded store: a call was turned away because the journal cannot be written", "error", r.err)
		return r.err
	}
	r.journaled = true
	s.appended.Store(s.j.seq)
	s.grow(s.j.size-before, 1)
	return nil
}
