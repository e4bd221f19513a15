package conn

import (
	"context"
	"errors"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/queue/script"
)

// Here returns the variant of a call for this kind of deployment.
func (d *Deployment) Here(c script.Call) script.Call {
	if d.cluster != nil {
		c.Script = c.Script.ForCluster()
	}
	return c
}

// LoadScripts puts every script into the cache of each server that lacks it. A call that meets a server without them does so too: a
// restart and a failover empty the cache.
func (d *Deployment) LoadScripts(ctx context.Context) error {
	masters, err := d.Masters(ctx)
	for _, one := range masters {
		err = errors.Join(err, d.loadScripts(ctx, one.Client))
	}
	return err
}

// loadScripts loads what a server does not know. It mostly has the scripts already, from other nodes or an earlier start,
// so asking is cheaper than sending all of them. A user without the right to ask sends all.
func (d *Deployment) loadScripts(ctx context.Context, client queue.Redis) error {
	scripts := slices.Clone(d.scripts.Used())
	hashes := make([]string, len(scripts))
	for i, script := range scripts {
		if d.cluster != nil {
			scripts[i] = script.ForCluster()
		}
		hashes[i] = scripts[i].SHA()
	}
	known, _ := client.ScriptExists(ctx, hashes...).Result()
	pipe := client.Pipeline()
	for i, script := range scripts {
		if i >= len(known) || !known[i] {
			pipe.ScriptLoad(ctx, script.Text())
		}
	}
	if pipe.Len() == 0 {
		return nil
	}
	_, err := pipe.Exec(ctx)
	return err
}

// Again tells whether a call on a key has to be repeated, having loaded the scripts: nothing ran where the server did not
// know the script.
func (d *Deployment) Again(ctx context.Context, err error, key string) bool {
	if !redis.HasErrorPrefix(err, "NOSCRIPT") {
		return false
	}
	one, err := d.MasterOf(ctx, key)
	return err == nil && d.loadScripts(ctx, one.Client) == nil
}

// loadScriptsFor puts every script into the cache of each server that some of the calls go to.
func (d *Deployment) loadScriptsFor(ctx context.Context, calls []script.Call, some []int) error {
	loaded := map[string]bool{} // by address
	for _, i := range some {
		one, err := d.MasterOf(ctx, calls[i].Keys[0])
		if err == nil && !loaded[one.Addr] {
			loaded[one.Addr] = true
			err = d.loadScripts(ctx, one.Client)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Run runs a script and returns what it answers.
func (d *Deployment) Run(ctx context.Context, c script.Call) (any, error) {
	c = d.Here(c)
	value, err := c.Send(ctx, d.client).Result()
	if d.Again(ctx, err, c.Keys[0]) {
		value, err = c.Send(ctx, d.client).Result()
	}
	return value, err
}

// Answer is what one of several calls got, or why it got nothing.
type Answer struct {
	Value any
	Err   error
	// The server does not serve the keys any more, or not right now, and has done nothing. Set by RunAt alone, which does not follow
	// redirects: the other calls of a lane would have to wait too.
	Refused bool
}

// RunAll runs many calls, at most PipelineMax of them in a round trip, and returns the answers in order. Its error means that
// a server was not reached; what a server answers is the error of that call alone.
func (d *Deployment) RunAll(ctx context.Context, calls []script.Call) ([]Answer, error) {
	answers := make([]Answer, 0, len(calls))
	for chunk := range slices.Chunk(calls, PipelineMax) {
		cmds, err := d.pipeline(ctx, chunk)
		if err != nil {
			return nil, err
		}
		for _, cmd := range cmds {
			answers = append(answers, Answer{Value: cmd.Val(), Err: cmd.Err()})
		}
	}
	return answers, nil
}

// pipeline runs calls in one round trip. Where the server did not know the scripts, those calls are sent again.
func (d *Deployment) pipeline(ctx context.Context, calls []script.Call) ([]*redis.Cmd, error) {
	cmds := make([]*redis.Cmd, len(calls))
	missing := make([]int, len(calls))
	for i := range calls {
		missing[i] = i
	}
	for attempt := 0; attempt < 2 && len(missing) > 0; attempt++ {
		pipe := d.client.Pipeline()
		for _, i := range missing {
			cmds[i] = d.Here(calls[i]).Send(ctx, pipe)
		}
		_, execErr := pipe.Exec(ctx)
		var unknown []int
		for _, i := range missing {
			err := cmds[i].Err()
			if err != nil && !Refused(err) {
				return nil, execErr
			}
			if redis.HasErrorPrefix(err, "NOSCRIPT") {
				unknown = append(unknown, i)
			}
		}
		missing = unknown
		if err := d.loadScriptsFor(ctx, calls, missing); err != nil {
			return nil, err
		}
	}
	return cmds, nil
}

// RunAt runs calls on one server in one round trip, whether or not it has their keys. Where it did not know the scripts, those calls
// are sent again.
func (d *Deployment) RunAt(ctx context.Context, server Server, calls []script.Call) []Answer {
	answers := make([]Answer, len(calls))
	cmds := d.sendAt(ctx, server, calls)
	var unknown []int
	for i, cmd := range cmds {
		if unknownScript(cmd) {
			unknown = append(unknown, i)
		}
	}
	if len(unknown) > 0 && d.loadScripts(ctx, server.Client) == nil {
		again := make([]script.Call, len(unknown))
		for j, i := range unknown {
			again[j] = calls[i]
		}
		for j, cmd := range d.sendAt(ctx, server, again) {
			cmds[unknown[j]] = cmd
		}
	}
	for i, cmd := range cmds {
		how, _ := redirectOf(cmd.Err())
		answers[i] = Answer{Value: cmd.Val(), Err: cmd.Err(), Refused: d.cluster != nil && how != stay}
	}
	return answers
}

func (d *Deployment) sendAt(ctx context.Context, server Server, calls []script.Call) []*redis.Cmd {
	if len(calls) == 1 {
		return []*redis.Cmd{d.Here(calls[0]).Send(ctx, server.Client)}
	}
	cmds := make([]*redis.Cmd, len(calls))
	pipe := server.Client.Pipeline()
	for i, c := range calls {
		cmds[i] = d.Here(c).Send(ctx, pipe)
	}
	_, _ = pipe.Exec(ctx) // each has its own error
	return cmds
}

// Publish publishes on a channel of a partition: in a cluster, within its shard.
func (d *Deployment) Publish(ctx context.Context, channel, payload string) error {
	if d.cluster != nil {
		return d.client.SPublish(ctx, channel, payload).Err()
	}
	return d.client.Publish(ctx, channel, payload).Err()
}

// writeProbe writes nothing, but does not say so: Redis refuses it where it refuses scripts that write, on a replica and
// when its memory is full. See "Eval flags" in its documentation of scripts.
const writeProbe = "#!lua\nreturn 1"

// Writable returns nil if every server of the store takes writes now.
func (d *Deployment) Writable(ctx context.Context) error {
	if d.embedded != nil {
		return d.embedded.Writable()
	}
	masters, err := d.Masters(ctx)
	for _, one := range masters {
		if err != nil {
			break
		}
		var sha string
		if sha, err = one.Client.ScriptLoad(ctx, writeProbe).Result(); err == nil {
			err = one.Client.EvalSha(ctx, sha, nil).Err()
		}
	}
	return err
}
