package files

import (
	"context"

	"github.com/chatd/chatd/chat"
)

// removeOrphans removes bytes without a record, which a crash leaves, or a store that was rolled back.
func (s *Service) removeOrphans(ctx context.Context) error {
	for after := ""; ; {
		items, err := s.blobs.List(ctx, after, comparePage)
		if err != nil || len(items) == 0 {
			return chat.AsError(err)
		}
		after = items[len(items)-1].ID
		orphans, err := s.orphans(ctx, items)
		if err != nil {
			return err
		}
		for _, id := range orphans {
			if err := s.blobs.Remove(ctx, id); err != nil {
				return chat.AsError(err)
			}
			s.opt.Log.InfoContext(ctx, "removed bytes without a record", "file", id)
		}
	}
}

// orphans are the items that are old and have no record. The record is written first and removed first.
func (s *Service) orphans(ctx context.Context, items []Item) (found []string, err error) {
	ids := make([]string, len(items))
	for i, item := range items {
		ids[i] = item.ID
	}
	groups, err := s.store.GroupsOfFiles(ctx, ids)
	if err != nil {
		return nil, err
	}
	for i, item := range items {
		if groups[i] == "" && s.opt.Now().Sub(item.Modified) > orphanAge {
			found = append(found, item.ID)
		}
	}
	return found, nil
}
