package notify

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/chatd/chatd/chat"
)

// heardMax is how many messages or items are looked at for one to show instead of that of somebody blocked.
const heardMax = 64

// shown is what a notification may show.
type shown struct {
	from string
	body *string
}

// heard has a notification show nothing of those whom its user blocks, but the newest of others that is still unread; false: there is
// none, so there is nothing to notify of.
func (s *Service) heard(ctx context.Context, t PushTask, n notification) (notification, bool, error) {
	if s.blocked == nil || n.Data.From == "" {
		return n, true, nil
	}
	if blocked, err := s.blocked(ctx, t.User, []string{n.Data.From}); err != nil || !blocked[n.Data.From] {
		return n, err == nil, err
	}
	find := s.unreadItems
	if t.Group != "" {
		find = s.unreadMessages
	}
	all, err := find(ctx, t)
	if err != nil {
		return n, false, err
	}
	var authors []string
	for _, one := range all {
		if !slices.Contains(authors, one.from) {
			authors = append(authors, one.from)
		}
	}
	blocked, err := s.blocked(ctx, t.User, authors)
	if err != nil {
		return n, false, err
	}
	for _, one := range slices.Backward(all) {
		if !blocked[one.from] {
			n.Data.From, n.Data.Preview = "", ""
			n.show(one.from, one.body)
			return n, true, nil
		}
	}
	return n, false, nil
}

// unreadMessages are those of others that the user of a notification wants to hear of, the newest last.
func (s *Service) unreadMessages(ctx context.Context, t PushTask) ([]shown, error) {
	set, err := s.store.Level(ctx, t.Group, t.User)
	if err != nil {
		return nil, err
	}
	mentions := s.holding(set).Level == Mentions
	pages, err := s.store.Pull(ctx, t.User, []chat.Pull{{Group: t.Group, From: max(1, t.Show-heardMax+1), Limit: heardMax}})
	if err != nil {
		return nil, err
	}
	read := pages[0].Info.Read
	if t.Thread > 0 {
		if _, read, err = s.thread(ctx, t); err != nil {
			return nil, err
		}
	}
	var all []shown
	for _, m := range pages[0].Messages {
		var e chat.Entry
		if err := json.Unmarshal(m.JSON, &e); err != nil {
			return nil, err
		}
		if m.ID <= read || e.Thread != t.Thread || e.From == t.User || e.DeletedAt != nil || e.Kind != chat.Text && e.Kind != chat.Data ||
			mentions && !slices.Contains(e.Mentions, t.User) && !slices.Contains(e.Mentions, chat.MentionAll) {
			continue
		}
		all = append(all, shown{e.From, e.Body})
	}
	return all, nil
}

// unreadItems are the items that the user of a notification hears of, the newest last.
func (s *Service) unreadItems(ctx context.Context, t PushTask) ([]shown, error) {
	batch, err := s.store.InboxPull(ctx, t.User, chat.Position{Set: true, ID: max(0, t.Show-heardMax)}, heardMax)
	if err != nil {
		return nil, err
	}
	var all []shown
	for _, stored := range batch.Items {
		item, err := decodeItem(stored.JSON)
		if err != nil {
			return nil, err
		}
		if item.Seq > batch.Acked && (item.Kind == chat.ItemDirect || item.Kind == chat.ItemAnnouncement) {
			all = append(all, shown{item.From, item.Body})
		}
	}
	return all, nil
}
