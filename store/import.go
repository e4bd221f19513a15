package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/importer"
	"github.com/chatd/chatd/internal/fold"
)

var _ importer.Store = (*Store)(nil)

var (
	importBeginScript   = newScript("import/begin", groupNames)
	importStageScript   = newScript("import/stage", groupNames)
	importFinishScript  = newScript("import/finish", groupNames)
	importDiscardScript = newFreeing("import/discard", groupNames)
)

// stageAtOnce is how many entries one step adds to an import.
const stageAtOnce = 500

// Imports are groups that are made of past messages.
type Imports struct {
	*base
}

// BeginImport begins an import, or tells which one is under way.
func (s *Imports) BeginImport(ctx context.Context, group, file, epoch string) (importer.Begun, error) {
	r, err := s.runSafe(ctx, importBeginScript.On(s.keys.group(group)).Arg("file", file).Arg("epoch", epoch))
	if err != nil {
		return importer.Begun{}, err
	}
	return importer.Begun{File: r.text(1), Epoch: r.text(2), At: r.number(3)}, nil
}

// StageImport adds the entries from..to, in steps: the store gets those that it is given.
func (s *Imports) StageImport(ctx context.Context, group, epoch string, from, to int64, entries []importer.Entry) error {
	k := s.keys.group(group)
	if len(entries) == 0 {
		_, err := s.runSafe(ctx, importStageScript.On(k).Arg("epoch", epoch).Arg("from", from).Arg("to", to))
		return err
	}
	for some := range slices.Chunk(entries, stageAtOnce) {
		end := some[len(some)-1].ID
		c := importStageScript.Sized(k, 6*len(some)).Arg("epoch", epoch).Arg("from", from).Arg("to", end)
		for _, e := range some {
			c = stageRows(c, e)
		}
		if _, err := s.runSafe(ctx, c); err != nil {
			return err
		}
		from = end + 1
	}
	return nil
}

// stageRows adds the rows of an entry to a call.
func stageRows(c call, e importer.Entry) call {
	id, flag := strconv.FormatInt(e.ID, 10), noTarget
	if e.Message() {
		flag = noEdits
	}
	add := func(set, score, member string) {
		c = c.MoreArgs("rows", "set", set, "score", score, "member", member)
	}
	add("msgs", id, fmt.Sprintf("%s %s %s %s", id, e.Mark, flag, chat.EntryJSON(e.ID, e.Rest)))
	if !e.Message() {
		add("skip", id, id)
	}
	if e.Emoji != "" {
		add("reacted", id, fmt.Sprintf("%d %s %s", e.Target, e.From, e.Emoji))
	}
	for _, r := range e.Reactions {
		add("reactions", id, fmt.Sprintf("%s %s %d", id, r.Emoji, len(r.Users)))
	}
	return c
}

// FinishImport makes the group.
func (s *Imports) FinishImport(ctx context.Context, i importer.Finished) error {
	k, trimmed := s.keys.group(i.ID), ""
	if i.Trimmed.ID > 0 {
		trimmed = fmt.Sprintf("%d %s", i.Trimmed.ID, i.Trimmed.Mark)
	}
	return s.do(ctx, importFinishScript.Sized(k, len(i.Users)).Arg("file", i.File).Arg("epoch", i.Epoch).Arg("group", i.ID).
		Arg("name", i.Name).Arg("folded", fold.Fold(i.Name)).Arg("creator", i.CreatedBy).Arg("created_ms", i.CreatedAt.UnixMilli()).Arg("active_ms", i.ActiveMs).
		Arg("keep", i.Keep).Arg("backlog_max", i.BacklogMax).Arg("overflow", string(i.Overflow)).Arg("backlog_bytes", i.BacklogBytes).Arg("last", i.Last).Arg("newest", i.Newest).Arg("mark", i.Mark).
		Arg("trimmed", trimmed).Arg("archived", i.Archived).Arg("task_id", k.taskID()).Arg("retain_id", k.taskID()).
		List("users", i.Users))
}

// DiscardImport removes what an import has brought so far.
func (s *Imports) DiscardImport(ctx context.Context, group, epoch string) error {
	return s.do(ctx, importDiscardScript.On(s.keys.group(group)).Arg("epoch", epoch))
}
