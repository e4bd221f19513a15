package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/local"
	"github.com/chatd/chatd/internal/node"
	"github.com/chatd/chatd/queue/cli"
)

// chatCommand is a chat in the terminal.
type chatCommand struct {
	memberFlags
	Group string `arg:"" optional:"" help:"Id of the group to open. Default: lists the groups."`
	Plain bool   `help:"Read and write lines only, for screen readers: no line is drawn again. It is the default in pipes and where TERM is dumb."`
}

func (s chatCommand) Run(env *environment, c node.Config) error {
	server, at, err := s.member(c)
	if err != nil {
		return err
	}
	me, err := server.Me(env.ctx)
	if err != nil {
		return at.explain(err)
	}
	at.user = me.User
	chat, err := local.Open(env.ctx, server, local.Options{User: me.User, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer chat.Close()
	t := &talk{
		server: server, chat: chat, who: newPeople(server), at: at, unread: map[string]client.GroupState{}, mine: map[string]bool{},
		failed: make(chan error),
	}
	if t.screen, err = openConsole(env.stdout, s.Plain, t.complete); err != nil {
		return err
	}
	defer t.screen.close()
	if s.Group == "" {
		err = t.list(env.ctx, "")
	} else {
		err = t.open(env.ctx, s.Group)
	}
	if err == nil {
		err = t.run(env.ctx)
	}
	t.close()
	return at.explain(err)
}

// talk is a chat at a terminal: what is typed goes in, lines come out. One goroutine runs it.
type talk struct {
	server *client.Client
	chat   *local.Chat
	who    *people
	at     callee
	screen *console

	group    client.GroupState // that is open; without an ID: none
	timeline *local.Timeline
	shown    shown
	unread   map[string]client.GroupState // as last seen, by group
	listed   []string                     // ids of the groups as they were last listed, for /open NUMBER
	mine     map[string]bool              // client ids of what was sent here
	away     bool                         // the server is not reached, which was said

	sending sync.WaitGroup
	failed  chan error // changes that the server refuses
	refused int        // messages and changes that were
}

// errQuit ends a talk in order.
var errQuit = errors.New("quit")

// run goes on until the person quits, the input ends, or the server does not let them in any more.
func (t *talk) run(ctx context.Context) error {
	changed, stop := t.chat.Watch()
	defer stop()
	for {
		var news <-chan struct{}
		if t.timeline != nil {
			news = t.timeline.Changed()
		}
		select {
		case <-ctx.Done():
			return nil
		case line, ok := <-t.screen.lines:
			if !ok {
				return t.finish(ctx)
			}
			err := t.take(ctx, line)
			if errors.Is(err, errQuit) {
				return t.finish(ctx)
			}
			if err != nil {
				t.say("%s", cli.Plain(t.inWords(err).Error()))
			}
		case err := <-t.failed:
			t.refused++
			t.say("not done: %s", cli.Plain(err.Error()))
		case <-changed:
			if err := t.look(); err != nil {
				return err
			}
		case <-news:
			t.show(ctx)
		}
		t.prompt()
	}
}

// inWords explains what a server said; all else is said here.
func (t *talk) inWords(err error) error {
	if answer := new(client.Error); errors.As(err, &answer) {
		return t.at.explain(err)
	}
	return err
}

// say prints a line that is no message.
func (t *talk) say(format string, args ...any) {
	t.screen.write("-- " + fmt.Sprintf(format, args...) + "\n")
}

// prompt says where what is typed goes, and how much is unread elsewhere.
func (t *talk) prompt() {
	var elsewhere int64
	for id, g := range t.unread {
		if id != t.group.ID {
			elsewhere += g.Unread
		}
	}
	text := "chatd"
	if t.group.ID != "" {
		text = t.who.title(t.group.Group, t.at.user)
	}
	if elsewhere > 0 {
		text += fmt.Sprintf(" (%d unread elsewhere)", elsewhere)
	}
	t.screen.prompt(text + "> ")
}

// open shows another group.
func (t *talk) open(ctx context.Context, id string) error {
	g, err := t.server.Group(ctx, id)
	if client.CodeOf(err) == client.CodeNotFound {
		return noGroup(id)
	}
	if err != nil {
		return err
	}
	timeline, err := t.chat.Timeline(ctx, id, local.At{})
	if err != nil {
		return err
	}
	t.close()
	t.group, t.timeline, t.shown = g, timeline, shown{}
	clear(t.mine)
	t.who.meetOthers(ctx, []client.GroupState{g}, t.at.user)
	t.say("%s, %s; /help lists what else you can do", t.who.title(g.Group, t.at.user), plural(int(g.Members), "member"))
	t.show(ctx)
	t.prompt()
	return nil
}

// close closes the open group.
func (t *talk) close() {
	if t.timeline != nil {
		t.timeline.Close()
	}
	t.timeline, t.group = nil, client.GroupState{}
}

// show prints what is new in the open group. What was printed has been read.
func (t *talk) show(ctx context.Context) {
	if t.timeline == nil {
		return
	}
	view := t.timeline.View()
	messages := make([]client.Message, len(view.Lines))
	for i, l := range view.Lines {
		messages[i] = l.Message
	}
	t.who.meetAll(ctx, nil, messages)
	for _, line := range t.shown.news(view, t.who, t.mine) {
		t.screen.write(line + "\n")
	}
	if last := t.shown.last; last > t.shown.read {
		t.shown.read = last
		_ = t.chat.Read(ctx, t.group.ID, last) // it fails only when the chat is over, which look says
	}
}

// look says what is new elsewhere, and how it is with the server.
func (t *talk) look() error {
	state := t.chat.State()
	switch state.Phase {
	case local.PhaseSignedOut, local.PhaseClosed:
		return state.Err
	case local.PhaseWaiting:
		if !t.away {
			t.say("not connected, trying again; what you write is sent when that succeeds")
		}
		t.away = true
	case local.PhaseLive:
		if t.away {
			t.say("connected again")
		}
		t.away = false
	}
	now := map[string]client.GroupState{}
	for _, g := range t.chat.Groups() {
		now[g.ID] = g.GroupState
		was, known := t.unread[g.ID]
		if known && g.ID != t.group.ID && (was.Unread == 0 && g.Unread > 0 || g.MentionsUnread > was.MentionsUnread) {
			t.say("%d unread in %s: /open %s", g.Unread, t.who.title(g.Group, t.at.user), cli.Plain(g.ID))
		}
	}
	t.unread = now
	if _, in := now[t.group.ID]; !in && t.group.ID != "" && len(now) > 0 && t.shown.lines != nil {
		t.say("you are no longer in %s", t.who.title(t.group.Group, t.at.user))
		t.close()
	}
	return nil
}

// send sends a message, or a change of one, however long that takes.
func (t *talk) send(ctx context.Context, draft client.Draft) error {
	if t.group.ID == "" {
		return errors.New("open a group first: /open GROUP")
	}
	sending, err := t.chat.Send(ctx, t.group.ID, draft)
	if err != nil {
		return err
	}
	t.mine[sending.Key] = true
	t.sending.Go(func() {
		_, err := sending.Wait(ctx)
		var refused *local.Failure
		if errors.As(err, &refused) && refused.Code != local.CodeDiscarded && draft.Target > 0 {
			select {
			case t.failed <- errors.New(refused.Detail):
			case <-ctx.Done():
			}
		}
	})
	return nil
}

// finish waits until what was written is sent.
func (t *talk) finish(ctx context.Context) error {
	t.screen.close()
	done := make(chan struct{})
	go func() {
		t.sending.Wait()
		close(done)
	}()
	changed, stop := t.chat.Watch()
	defer stop()
	for waiting := true; waiting; {
		select {
		case <-ctx.Done():
			return coded(exitInterrupted, "interrupted: what was not sent yet is lost")
		case err := <-t.failed:
			t.refused++
			t.say("not done: %s", cli.Plain(err.Error()))
		case <-changed:
			if err := t.look(); err != nil {
				return err
			}
		case <-done:
			waiting = false
		}
	}
	t.show(ctx)
	if n := t.refused + t.shown.failed; n > 0 {
		return coded(exitRefused, "the server refused %s", plural(n, "message"))
	}
	return nil
}
