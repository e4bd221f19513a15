package store

import (
	"context"
	"strconv"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/buttons"
)

var _ buttons.Store = (*Buttons)(nil)

var buttonPressScript = newScript("button/press", groupNames)

// Buttons are the actions of messages that members press.
type Buttons struct{ *base }

// Press has webhooks told of a press.
func (s *Buttons) Press(ctx context.Context, epoch string, p buttons.Press) error {
	k := s.keys.group(p.Group)
	press := chat.Hash([]byte(p.User), []byte(strconv.FormatInt(p.Message, 10)), []byte(p.Action))
	return s.do(ctx, buttonPressScript.On(k).Arg("user", p.User).Arg("group", p.Group).Arg("was_epoch", epoch).Arg("press", press).
		Arg("event", chat.Encode(p)).Arg("again_ms", buttons.Again.Milliseconds()).Arg("pressed_id", k.taskID()))
}
