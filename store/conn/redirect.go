package conn

import (
	"context"
	"math/rand/v2"
	"net"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// redirects repeats a command that a cluster node refused because of the state of the cluster: the node has not run it. It never
// repeats a command whose answer was lost.
type redirects struct{ cluster *cluster }

var _ redis.Hook = (*redirects)(nil)

// redirect is how to go on after an answer.
type redirect int

const (
	stay  redirect = iota // do not repeat: the answer is final
	moved                 // the slot has another master
	asked                 // the slot is migrating, and its keys may be at the other master already
	later                 // the slot cannot be served right now
)

// redirectOf tells from an error whether to repeat the command, and at which address.
func redirectOf(err error) (redirect, string) {
	if err == nil {
		return stay, ""
	}
	if addr, ok := redis.IsMovedError(err); ok {
		return moved, addr
	}
	if addr, ok := redis.IsAskError(err); ok {
		return asked, addr
	}
	if redis.IsTryAgainError(err) || redis.IsClusterDownError(err) || redis.IsLoadingError(err) || redis.IsReadOnlyError(err) ||
		redis.IsMasterDownError(err) {
		return later, ""
	}
	return stay, ""
}

// patience limits how long and how often a call is repeated.
type patience struct {
	until time.Time
	pause time.Duration
	moves int
}

func newPatience() *patience {
	return &patience{until: time.Now().Add(redirectPatience), pause: redirectPause}
}

// wait reports whether to repeat a call. It pauses first if the state of the cluster has to change.
func (p *patience) wait(ctx context.Context, r redirect) bool {
	if p.moves++; r == stay || p.moves > redirectsMax || time.Now().After(p.until) || ctx.Err() != nil {
		return false
	}
	if r != later && p.moves <= 2 {
		return true
	}
	timer := time.NewTimer(p.pause/2 + rand.N(p.pause))
	defer timer.Stop()
	p.pause = min(2*p.pause, redirectPauses)
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// DialHook changes nothing: the client of each node has its own guard.
func (r *redirects) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

// ProcessHook follows the redirects of a single command.
func (r *redirects) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if how, _ := redirectOf(err); how == stay {
			return err
		}
		return r.resend(ctx, []redis.Cmder{cmd}, func(ctx context.Context, _ []redis.Cmder) error {
			cmd.SetErr(next(ctx, cmd))
			return cmd.Err()
		})
	}
}

// ProcessPipelineHook follows the redirects of single commands in a pipeline, and those of a transaction as a whole.
func (r *redirects) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		if cmds[0].Name() != "multi" {
			return r.resend(ctx, cmds, next)
		}
		inner := cmds[1 : len(cmds)-1]
		for p := newPatience(); ; {
			how, addr := redirectOf(err)
			if !p.wait(ctx, how) {
				return err
			}
			clearErrors(inner)
			if how == later {
				r.cluster.redis.ReloadState(ctx)
				err = next(ctx, cmds)
			} else {
				err = r.sendTransaction(ctx, addr, how, inner)
			}
		}
	}
}

// resend repeats the refused commands until none is refused or the patience ends, and returns the first remaining error.
func (r *redirects) resend(ctx context.Context, cmds []redis.Cmder, next redis.ProcessPipelineHook) error {
	type target struct {
		how  redirect
		addr string
	}
	for p := newPatience(); ; {
		refused := map[target][]redis.Cmder{}
		worst := stay
		for _, cmd := range cmds {
			if how, addr := redirectOf(cmd.Err()); how != stay {
				refused[target{how, addr}] = append(refused[target{how, addr}], cmd)
				worst = max(worst, how)
			}
		}
		if !p.wait(ctx, worst) {
			return firstErrorOf(cmds)
		}
		for at, some := range refused {
			clearErrors(some)
			if at.how == later {
				r.cluster.redis.ReloadState(ctx)
				_ = next(ctx, some) // each has its own error
			} else {
				_ = r.sendTo(ctx, at.addr, at.how, some)
			}
		}
	}
}

// sendTo sends commands to the node that a redirect names. A node that joined later, or was a replica, may not know the scripts:
// sendTo loads them there, because its caller does not know of the redirect.
func (r *redirects) sendTo(ctx context.Context, addr string, how redirect, cmds []redis.Cmder) error {
	client := r.cluster.client(addr)
	if client == nil { // go-redis makes a client for each address that a redirect names
		for _, cmd := range cmds {
			cmd.SetErr(errTopology)
		}
		return errTopology
	}
	err := sendPast(ctx, client, how, cmds)
	unknown := slices.DeleteFunc(slices.Clone(cmds), func(cmd redis.Cmder) bool { return !unknownScript(cmd) })
	if len(unknown) == 0 || r.cluster.of.loadScripts(ctx, client) != nil {
		return err
	}
	clearErrors(unknown)
	_ = sendPast(ctx, client, how, unknown) // each has its own error
	return firstErrorOf(cmds)
}

// sendPast sends commands to a node, whichever slots it is known to serve.
func sendPast(ctx context.Context, client *redis.Client, how redirect, cmds []redis.Cmder) error {
	pipe := client.Pipeline()
	for _, cmd := range cmds {
		if how == asked {
			_ = pipe.Do(ctx, "asking") // applies to the next command only
		}
		_ = pipe.Process(ctx, cmd)
	}
	_, err := pipe.Exec(ctx)
	return err
}

// sendTransaction sends a transaction to the node that a redirect names. If that node does not know a script, sendTransaction loads
// the scripts, but the rest of the transaction has run: the caller decides whether to repeat it.
func (r *redirects) sendTransaction(ctx context.Context, addr string, how redirect, cmds []redis.Cmder) error {
	client := r.cluster.client(addr)
	if client == nil {
		return errTopology
	}
	conn := client.Conn()
	defer func() { _ = conn.Close() }()
	if how == asked { // applies to the whole transaction
		if err := conn.Do(ctx, "asking").Err(); err != nil {
			return err
		}
	}
	pipe := conn.TxPipeline()
	for _, cmd := range cmds {
		_ = pipe.Process(ctx, cmd)
	}
	_, err := pipe.Exec(ctx)
	if slices.ContainsFunc(cmds, unknownScript) {
		_ = r.cluster.of.loadScripts(ctx, client) // without them the caller fails again
	}
	return err
}

func unknownScript(cmd redis.Cmder) bool {
	err := cmd.Err()
	return err != nil && redis.HasErrorPrefix(err, "NOSCRIPT")
}

func clearErrors(cmds []redis.Cmder) {
	for _, cmd := range cmds {
		cmd.SetErr(nil)
	}
}

func firstErrorOf(cmds []redis.Cmder) error {
	i := slices.IndexFunc(cmds, func(cmd redis.Cmder) bool { return cmd.Err() != nil })
	if i < 0 {
		return nil
	}
	return cmds[i].Err()
}
