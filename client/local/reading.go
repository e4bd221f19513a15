package local

import (
	"context"
	"errors"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/internal/clock"
)

// readAgain is how long to wait after a failure that may pass.
const readAgain = 3 * time.Second

// Read says that the person has read everything up to id. It is stored when Read returns, and said when the server is reached.
func (c *Chat) Read(ctx context.Context, group string, id int64) error {
	return c.commit(ctx, func(d *draft) error { return d.readTo(group, id) })
}

// Typing shows the online members of a group that the person is typing; call it every 3 s at most. It is lost while offline.
func (c *Chat) Typing(group string) error { return c.stream.Typing(group) }

// pumpReadsLocked says what the person has read.
func (c *Chat) pumpReadsLocked() {
	for group, id := range c.reads {
		if c.reading[group] {
			continue
		}
		c.reading[group] = true
		online := c.online
		c.tasks.Go(func() { c.sayRead(online, group, id) })
	}
}

func (c *Chat) sayRead(online context.Context, group string, id int64) {
	answer, err := c.stream.Read(online, group, id)
	wait, passes := transient(err)
	switch {
	case err == nil:
		err = c.commit(c.ctx, func(d *draft) error { d.confirmed(group, id, &answer); return nil })
	case !passes:
		err = c.commit(c.ctx, func(d *draft) error { d.confirmed(group, id, nil); return nil })
	}
	if err != nil && clock.Sleep(online, max(wait, readAgain)) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.online == online {
		delete(c.reading, group)
		c.pumpLocked()
	}
}

// keepListed asks for the groups when a session begins, and where counts may be wrong, while the server is reached.
func (c *Chat) keepListed(online context.Context) {
	for tries := 0; ; {
		if clock.Wait(online, c.list) != nil {
			signal(c.list) // for the next session
			return
		}
		if tries > 0 && clock.Sleep(online, min(20*time.Second, 250*time.Millisecond<<min(tries, 10))) != nil {
			signal(c.list)
			return
		}
		again, err := c.listGroups(online)
		switch {
		case again:
			tries++
			signal(c.list)
		default:
			tries = 0
		}
		if errors.Is(err, ErrOtherUser) {
			c.end(err)
		} else if err != nil && online.Err() == nil {
			c.log.Warn("the groups cannot be listed", "error", err)
		}
	}
}

// errMoved: a group was entered or left while the list was on its way, which may say either.
var errMoved = errors.New("memberships changed")

// listGroups asks for all groups, or for those whose counts may be wrong: latest activity first.
func (c *Chat) listGroups(ctx context.Context) (again bool, err error) {
	c.mu.Lock()
	all, stale, verified, memberships := c.listAll, c.stale, c.verified, c.memberships
	c.listAll, c.stale = false, map[string]bool{}
	c.mu.Unlock()
	failed := func(err error) (bool, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.listAll = true
		return true, err
	}
	if !verified {
		me, err := c.client.Me(ctx)
		if err == nil {
			err = c.commit(ctx, func(d *draft) error { return d.isUser(me.User) })
		}
		if err != nil {
			return failed(err)
		}
	}
	page := client.Page{Limit: 100}
	for all || len(stale) > 0 {
		list, err := c.client.Groups(ctx, page)
		if err == nil {
			err = c.commit(ctx, func(d *draft) error {
				if d.memberships != memberships {
					return errMoved
				}
				d.listed(list.Groups)
				return nil
			})
		}
		if errors.Is(err, errMoved) {
			return failed(nil)
		}
		if err != nil {
			return failed(err)
		}
		for _, g := range list.Groups {
			delete(stale, g.ID)
		}
		if page.Cursor = list.Next; page.Cursor == "" {
			break
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.listAll || len(c.stale) > 0, nil
}
