package files

import (
	"context"

	"github.com/chatd/chatd/chat"
)

// Difference is what blobs and records do not agree on, because of a crash, or of a store that was rolled back.
type Difference struct {
	Orphans []string // bytes without a record, older than an hour
}

// differencesMax is how many of each kind a Difference names.
const differencesMax = 1000

// Compare looks for bytes without a record, and removes them if it is asked to.
func (s *Service) Compare(ctx context.Context, remove bool) (d Difference, err error) {
	if s.blobs == nil {
		return d, nil
	}
	for after := ""; ; {
		items, err := s.blobs.List(ctx, after, comparePage)
		if err != nil || len(items) == 0 {
			return d, chat.AsError(err)
		}
		after = items[len(items)-1].ID
		orphans, err := s.orphans(ctx, items)
		if err != nil {
			return d, err
		}
		for _, id := range orphans {
			if remove {
				if err := s.blobs.Remove(ctx, id); err != nil {
					return d, chat.AsError(err)
				}
				s.opt.Log.InfoContext(ctx, "removed bytes without a record", "file", id)
			}
			if len(d.Orphans) < differencesMax {
				d.Orphans = append(d.Orphans, id)
			}
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
