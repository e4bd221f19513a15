package embedded

import (
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/server"
)

// enqueue queues a command of a MULTI. miniredis queues it too, only to report mistakes in it: miniredis knows neither the sorted
// sets nor the scripts, so EXEC runs the commands here.
func (s *gate) enqueue(c *server.Peer, p *peer, cmd string, args []string) bool {
	switch kind := classes[cmd]; {
	case kind == readScripts:
		if _, message := scriptKeys(cmd, args); message != "" {
			return refuse(c, p, message)
		}
		if message := s.engine.learnEval(strings.TrimSuffix(cmd, "_RO"), args); message != "" {
			return refuse(c, p, message)
		}
		p.needsClock = true
	case isSortedSet(cmd):
		if f := sortedSetCommands[cmd].wrongCount(cmd, args); f != "" {
			return refuse(c, p, string(f))
		}
	default:
		s.dispatch(c, p, cmd, args)
		if answer := p.reply.String(); !strings.HasPrefix(answer, "+QUEUED") {
			p.dirty = true
			c.WriteRaw(answer)
			return true
		}
		p.needsClock = p.needsClock || kind == clock
	}
	p.queue = append(p.queue, queued{cmd, args})
	c.WriteInline("QUEUED")
	return true
}

// exec runs the commands of a MULTI at one instant.
func (s *gate) exec(c *server.Peer, p *peer) bool {
	queue, dirty, needsClock := p.queue, p.dirty, p.needsClock
	p.multi, p.queue, p.dirty, p.needsClock = false, nil, false, false
	s.dispatch(nil, p, "DISCARD", nil)
	if dirty {
		c.WriteError("EXECABORT Transaction discarded because of previous errors.")
		return true
	}
	var us int64
	if needsClock {
		s.order.Lock()
		defer s.order.Unlock()
		us = s.clock.nowUs()
		s.m.SetTime(time.UnixMicro(us))
	}
	s.m.Lock()
	out := appendLine(nil, '*', len(queue))
	for _, q := range queue {
		out = s.execOne(out, q, us, c.Resp3)
	}
	s.m.Unlock()
	c.WriteRaw(string(out))
	return true
}

// execOne appends the answer of a command to out. The caller holds miniredis' own lock, and order if there are scripts.
func (s *gate) execOne(out []byte, q queued, us int64, resp3 bool) []byte {
	switch {
	case isSortedSet(q.cmd):
		return appendReply(out, s.sets.run(q.cmd, q.args), resp3)
	case classes[q.cmd] != readScripts:
		s.sets.inside.Resp3 = resp3
		defer func() { s.sets.inside.Resp3 = false }()
		return append(out, s.sets.ask(q.cmd, q.args...)...)
	}
	sha := q.args[0]
	if q.cmd == "EVAL_RO" {
		sha = hashSource(sha)
	}
	found := s.engine.scripts[sha]
	if found == nil {
		return appendText(out, '-', noScript)
	}
	message := s.engine.compile(found)
	if message == "" {
		keys, _ := scriptKeys(q.cmd, q.args)
		r := &call{readOnly: true, script: found, us: us, keys: keys, args: q.args[2:], journaled: true}
		answer, failed := s.engine.runLocked(r)
		if failed == "" {
			return appendAnswer(out, answer, resp3)
		}
		message = failed
	}
	return appendText(out, '-', message+" script: "+sha)
}
