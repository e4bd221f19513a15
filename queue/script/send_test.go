package script

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
)

// sender keeps what is sent.
type sender struct{ cmd redis.Cmder }

func (s *sender) Process(_ context.Context, cmd redis.Cmder) error {
	s.cmd = cmd
	return errors.New("not asked for")
}

// plain are the arguments of a command as the client would write them.
func plain(cmd redis.Cmder) (args []any) {
	for _, arg := range cmd.Args() {
		switch p := arg.(type) {
		case *string:
			arg = *p
		case *int64:
			arg = *p
		}
		args = append(args, arg)
	}
	return args
}

func TestSend(t *testing.T) {
	for _, made := range []func(*Library, string, Names[room]) *Step[room]{New[room], NewReader[room]} {
		step := made(library("-- KEYS  log all...\n-- ARGV  user id:int\n"), "s", roomNames)
		to := &sender{}
		user, id := "bob", int64(7)
		cmd := step.On(room{"r"}).More("all", "a", "b").Arg("user", &user).Arg("id", &id).Send(t.Context(), to)
		if to.cmd != cmd || cmd.Err() != nil {
			t.Fatalf("got %v, sent %v", cmd, to.cmd)
		}
		command := "evalsha"
		if step.ReadOnly {
			command = "evalsha_ro"
		}
		log := roomNames.Keys["log"](room{"r"})
		want := []any{command, step.SHA(), 3, log, "a", "b", "bob", int64(7)}
		if diff := cmp.Diff(want, plain(cmd)); diff != "" {
			t.Error(diff)
		}
		if key := KeyOf(cmd); key != log {
			t.Errorf("the first key is %q, want %q", key, log)
		}
		if key := KeyOf(redis.NewCmd(t.Context(), "zrange", "k", 0, "x")); key != "" {
			t.Errorf("a command that runs no script has the key %q", key)
		}
	}
}

func TestSendRefusesWhatLacksAValue(t *testing.T) {
	to := &sender{}
	cmd := Bind(library("-- KEYS  log\n-- ARGV  user\n").Load("s"), roomNames).On(room{"r"}).Send(t.Context(), to)
	if cmd.Err() == nil || to.cmd != nil {
		t.Errorf("got %v, sent %v", cmd.Err(), to.cmd)
	}
}

// A send has a dozen keys: at an allocation each they would be a tenth of all that a send allocates.
func TestSendAllocatesNothingForKeys(t *testing.T) {
	step := Bind(library("-- KEYS  all...\n").Load("s"), Names[room]{})
	to := &sender{}
	var got [2]float64
	for i, keys := range [][]string{{"a"}, {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}} {
		call := step.On(room{}).More("all", keys...)
		got[i] = testing.AllocsPerRun(100, func() { call.Send(context.Background(), to) })
	}
	if got[0] != got[1] {
		t.Errorf("got %.0f allocations with one key and %.0f with twelve", got[0], got[1])
	}
}
