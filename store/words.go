package store

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/words"
)

var _ words.Store = (*Groups)(nil)

// GroupWords reads the lists of words of a group.
func (s *Groups) GroupWords(ctx context.Context, group string) (epoch, text string, err error) {
	var read *redis.SliceCmd
	err = s.reads(ctx, func(pipe redis.Pipeliner) { read = pipe.HMGet(ctx, s.keys.group(group).meta(), "epoch", "words") })
	if err != nil {
		return "", "", err
	}
	r := reply(read.Val())
	return r.text(0), r.text(1), nil
}

// PutGroupWords replaces the lists of words of a group.
func (s *Groups) PutGroupWords(ctx context.Context, by chat.Caller, group, text string) error {
	return s.doSafe(ctx, s.noted(wordsScript.On(s.keys.group(group)).Arg("caller", by.User).Arg("operator", by.Admin).Arg("words", text),
		audit.Note(by, audit.GroupWords, group, "", nil)))
}
