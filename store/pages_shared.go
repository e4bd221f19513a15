package store

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/queue/batch"
	"github.com/chatd/chatd/store/conn"
)

// sharedPull is a pull of one user that may share what it reads with those of others.
type sharedPull struct {
	user string
	pull chat.Pull
}

// mayShare tells whether a pull can be joined with those of others: it asks for entries upward, without reactions.
func mayShare(p chat.Pull) bool {
	return p.Shared && p.Before == 0 && !p.Counted && p.Limit > 0 && p.Limit <= sharedEntries
}

// pullShared answers each of a few pulls together with those of others.
func (s *Logs) pullShared(ctx context.Context, user string, pulls []chat.Pull) ([]chat.Page, error) {
	pages := make([]chat.Page, len(pulls))
	errs, ctx := errgroup.WithContext(ctx)
	for i, p := range pulls {
		errs.Go(func() (err error) {
			pages[i], err = s.pullWithOthers(ctx, user, p)
			return err
		})
	}
	return pages, errs.Wait()
}

// sharedReads joins pulls that come at about the same time, and go to one server. While one reads, the others wait for the next read.
type sharedReads = batch.Batcher[sharedPull, sharedPage]

// sharedPage is the answer to a shared pull, or why there is none. refused: as in laneAnswer.
type sharedPage struct {
	page    chat.Page
	err     error
	refused bool
}

func (s *Logs) joinShared(server conn.Server) *sharedReads {
	read := func(ctx context.Context, asked []sharedPull) []sharedPage {
		return togetherReader{s}.read(ctx, server, asked)
	}
	return &sharedReads{Run: read, Calls: 1, Size: pipelineMax, Pause: sharedPause}
}

// pullWithOthers is Pull for one group, joined with those of other callers.
func (s *Logs) pullWithOthers(ctx context.Context, user string, p chat.Pull) (chat.Page, error) {
	server, err := s.conn.MasterOf(ctx, s.keys.home(p.Group).base)
	if err != nil {
		return chat.Page{}, fail("read", err)
	}
	got, err := s.shared.To(server).Do(ctx, sharedPull{user, p})
	switch {
	case err != nil:
		return chat.Page{}, unavailable("read", err)
	case got.refused:
		return s.pullAlone(ctx, sharedPull{user, p})
	}
	return got.page, got.err
}

// togetherReader reads logs for many users at once.
type togetherReader struct{ *Logs }

// read answers pulls of many users, with a step for those of a group that ask for about the same entries.
func (s togetherReader) read(ctx context.Context, server conn.Server, asked []sharedPull) []sharedPage {
	together := sharers(asked)
	calls := make([]call, len(together))
	for i, indexes := range together {
		calls[i] = s.call(asked, indexes)
	}
	answers := s.runAt(ctx, server, calls)
	if i := slices.IndexFunc(answers, func(a laneAnswer) bool { return conn.Broken(a.err) }); i >= 0 && ctx.Err() == nil {
		answers = s.runAt(ctx, server, calls)
	}
	pages := make([]sharedPage, len(asked))
	for c, answer := range answers {
		s.share(ctx, asked, together[c], answer, pages)
	}
	return pages
}

// share makes the pages of the users that one step answers.
func (s togetherReader) share(ctx context.Context, asked []sharedPull, them []int, answer laneAnswer, pages []sharedPage) {
	if answer.err != nil {
		for _, i := range them {
			pages[i].err, pages[i].refused = answer.err, answer.refused
		}
		return
	}
	r, group := answer.reply, asked[them[0]].pull.Group
	log, members := r.list(1), r.list(3)
	messages, err := decodeMessages(group, r.texts(2))
	if err == nil {
		err = s.standing(ctx, group, messages)
	}
	common := &chat.Together{}
	for j, i := range them {
		if err != nil { // perhaps because of an entry that only others ask for
			pages[i].page, pages[i].err = s.pullAlone(ctx, asked[i])
			continue
		}
		page := &pages[i].page
		page.Info = asSharedInfo(group, log, members[min(5*j, len(members)):])
		showPage(page, cutShared(messages, asked[i].pull), nil)
		if n := len(messages); n > 0 && len(page.Messages) == 0 && page.Err == nil {
			page.Cut = messages[n-1].ID < min(asked[i].pull.From, page.Info.Last) // the others have filled it
		}
		if page.Info.Hidden() == 0 { // otherwise edits may read differently
			page.Together = common
		}
	}
}

func (s *Logs) pullAlone(ctx context.Context, q sharedPull) (chat.Page, error) {
	q.pull.Shared = false
	pages, err := s.Pull(ctx, q.user, []chat.Pull{q.pull})
	if err != nil {
		return chat.Page{}, err
	}
	return pages[0], nil
}

// sharers divides pulls into those that one step answers: of one group, at most sharedUsers, and at most sharedEntries from
// the lowest id on. They begin close to each other: one that begins far behind the others might get nothing.
func sharers(asked []sharedPull) (together [][]int) {
	order := make([]int, len(asked))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		p, q := asked[a].pull, asked[b].pull
		return cmp.Or(cmp.Compare(p.Group, q.Group), cmp.Compare(p.From, q.From))
	})
	for _, i := range order {
		if n := len(together); n > 0 && len(together[n-1]) < sharedUsers {
			first, p := asked[together[n-1][0]].pull, asked[i].pull
			if p.Group == first.Group && p.From-first.From <= sharedApart && p.From-first.From+int64(p.Limit) <= sharedEntries {
				together[n-1] = append(together[n-1], i)
				continue
			}
		}
		together = append(together, []int{i})
	}
	return together
}

func (s togetherReader) call(asked []sharedPull, indexes []int) call {
	first, to, unread := asked[indexes[0]].pull, int64(0), false
	k := s.keys.group(first.Group)
	for _, i := range indexes {
		p := asked[i].pull
		to, unread = max(to, p.From+int64(p.Limit)), unread || !p.NoUnread
	}
	c := sharedScript.On(k).Arg("from", first.From).Arg("count", to-first.From).
		Arg("bytes_max", min(sharedBytes, s.limits.PageBytesMax)).Arg("counted", unread)
	for _, i := range indexes {
		c = c.More("bys", k.by(asked[i].user)).MoreArgs("users", asked[i].user)
	}
	return c
}

// asSharedInfo reads a group and one of those who asked, as log/shared.lua answers them. It holds what asPageInfo does.
func asSharedInfo(group string, log, member reply) chat.Info {
	if log.text(0) == "" || member.text(0) == "" {
		in := chat.Info{Group: chat.Group{ID: group, Epoch: log.text(0)}}
		if in.Epoch != "" {
			in.Visibility = chat.Visibility(log.text(1))
		}
		return in
	}
	in := asStanding(group, log, member)
	in.Visibility, in.Unread = "", member.number(4)
	if log.text(4) == "" { // there is no archive
		in.Late, in.Changed = 0, 0
	}
	return in
}

// cutShared cuts what was read to what p asks for. All pages share it, so none has capacity to append.
func cutShared(messages []chat.Message, p chat.Pull) []chat.Message {
	for len(messages) > 0 && messages[0].ID < p.From {
		messages = messages[1:]
	}
	n := min(len(messages), p.Limit)
	return messages[:n:n]
}
