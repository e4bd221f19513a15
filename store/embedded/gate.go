package embedded

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2/server"
)

// gate answers every command of a connection, or lets miniredis answer it.
type gate struct {
	*memory
	engine    *engine
	peers     sync.Map // *server.Peer -> *peer
	nestedCtx any      // the context that miniredis passes to commands of a script
}

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

// command is called before every command, on the connection's goroutine; true means that the command is already answered.
// Commands of a script have a separate peer, on the goroutine that holds order.
func (s *gate) command(c *server.Peer, cmd string, args ...string) bool {
	if s.engine.lua != nil && c == s.engine.lua.peer {
		return s.engine.nested(c, cmd, args)
	}
	p, known := s.peers.Load(c)
	if !known {
		// A connection's first command has no context. A command of the script that startLua lets miniredis run has one.
		if c.Ctx != nil {
			if s.engine.lua == nil {
				s.nestedCtx = c.Ctx
				return false
			}
			return s.engine.nested(c, cmd, args)
		}
		p = s.newPeer(c)
	}
	return s.top(c, p.(*peer), cmd, args)
}

// newPeer registers a connection, with a second peer that shares its context and collects replies.
func (s *gate) newPeer(c *server.Peer) *peer {
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
func (s *gate) top(c *server.Peer, p *peer, cmd string, args []string) bool {
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
func (s *gate) session(c *server.Peer, p *peer, cmd string, args []string) bool {
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
func (s *gate) aboutScripts(c *server.Peer, p *peer, args []string) bool {
	var verb string
	if len(args) > 0 {
		verb = strings.ToUpper(args[0])
	}
	switch {
	case verb == "LOAD" && len(args) == 2:
		// A node loads all of its scripts at each start, and runs only some of them: those are compiled.
		if message := s.engine.learn(args[1], true); message != "" {
			return refuse(c, p, message)
		}
		c.WriteBulk(hashSource(args[1]))
	case verb == "EXISTS" && len(args) > 1:
		s.order.Lock()
		defer s.order.Unlock()
		c.WriteLen(len(args) - 1)
		for _, sha := range args[1:] {
			known := 0
			if s.engine.scripts[sha] != nil {
				known = 1
			}
			c.WriteInt(known)
		}
	case verb == "FLUSH":
		s.order.Lock()
		defer s.order.Unlock()
		clear(s.engine.scripts)
		c.WriteOK()
	default:
		return refuse(c, p, "ERR the embedded store knows SCRIPT LOAD, EXISTS and FLUSH only")
	}
	return true
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
func (s *gate) script(c *server.Peer, p *peer, cmd string, args []string, readOnly bool) bool {
	if p.multi {
		return refuse(c, p, "ERR the embedded store accepts writing scripts outside MULTI only: "+cmd)
	}
	keys, message := scriptKeys(cmd, args)
	if message != "" {
		return refuse(c, p, message)
	}
	if message := s.engine.learnEval(cmd, args); message != "" {
		return refuse(c, p, message)
	}
	sha := args[0]
	if cmd == "EVAL" {
		sha = hashSource(sha)
	}
	s.order.Lock()
	defer s.order.Unlock()
	found := s.engine.scripts[sha]
	if found == nil {
		return refuse(c, p, noScript)
	}
	r := &call{readOnly: readOnly, script: found, us: s.clock.nowUs(), keys: keys, args: args[2:], journaled: s.engine.journals.j == nil}
	answer, message := s.engine.runScript(r)
	if s.engine.journals.j != nil && r.wrote {
		s.engine.journals.j.digest = r.digest
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

// inOrder lets miniredis run a command that asks for the time, in order with the scripts.
func (s *gate) inOrder(c *server.Peer, p *peer, cmd string) {
	s.order.Lock()
	defer s.order.Unlock()
	s.m.SetTime(time.UnixMicro(s.clock.nowUs()))
	s.engine.cur = &call{readOnly: true}
	defer func() { s.engine.cur = nil }()
	s.dispatch(c, p, cmd, nil)
	c.WriteRaw(p.reply.String())
}

// dispatch lets miniredis run a command in the connection's context, and collects its answer in p.reply. c is nil if
// nobody needs the answer.
func (s *gate) dispatch(c *server.Peer, p *peer, cmd string, args []string) {
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

// startLua lets miniredis run a script once, to get the context that it passes to the commands of scripts.
func (s *gate) startLua() error {
	var reply bytes.Buffer
	p := newPeer(&reply)
	s.peers.Store(p, &peer{inner: true})
	defer s.peers.Delete(p)
	s.srv.Dispatch(p, []string{"EVAL", "return redis.call('ECHO', 'ready')", "0"})
	p.Flush()
	if s.nestedCtx == nil || reply.String() != "$5\r\nready\r\n" {
		return fmt.Errorf("embedded: this version of miniredis runs scripts differently: %q", reply.String())
	}
	var err error
	if s.values, err = findValues(s.m.DB(0)); err != nil {
		return err
	}
	s.engine.lua = newInterpreter(s.engine, s.nestedCtx)
	s.sets = newSortedSets(s.srv, func(out *bytes.Buffer) *server.Peer {
		p := newPeer(out)
		p.Ctx = s.nestedCtx
		s.peers.Store(p, &peer{inner: true})
		return p
	})
	return nil
}
