package files

import (
	"context"
	"slices"
	"time"
)

// compare looks for bytes without a record and records without bytes, which crashes leave. Bytes are removed once they have had no
// record for orphanKeep, and never if the store does not know this folder or bucket, or has no record of more than
// orphansMax of its files: then the store was probably emptied, or replaced by an older copy, and the right one may come back.
func (s *Service) compare(ctx context.Context, letter byte) error {
	known, err := s.store.RecordBlobs(ctx, "")
	if err != nil {
		return err
	}
	if known != s.blobs.Identity() {
		s.opt.Log.ErrorContext(ctx, "the store does not know this folder or bucket of files: it was emptied or replaced. No files are removed")
		return nil
	}
	if err := s.blobs.Check(ctx); err != nil { // nothing would be listed if the disk is not mounted
		return err
	}
	recorded, err := s.store.FileIDs(ctx, string(letter))
	if err != nil {
		return err
	}
	var orphans []string
	for after := ""; ; {
		items, err := s.blobs.List(ctx, after, comparePage)
		if err != nil {
			return err
		}
		if len(items) == 0 {
			break
		}
		after = items[len(items)-1].ID
		for _, item := range items {
			delete(recorded, item.ID)
		}
		found, err := s.orphans(ctx, items)
		if err != nil {
			return err
		}
		if orphans = append(orphans, found...); len(orphans) > orphansMax {
			s.opt.Log.ErrorContext(ctx, "more bytes without a record than a crash leaves: the store may be an older copy. No files are removed; chatd doctor names them",
				"more_than", orphansMax)
			return nil
		}
	}
	if err := s.removeOrphans(ctx, orphans); err != nil {
		return err
	}
	return s.dropLost(ctx, recorded)
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

// removeOrphans removes bytes that have had no record for long enough.
func (s *Service) removeOrphans(ctx context.Context, ids []string) error {
	ages, err := s.store.NoteOrphans(ctx, ids)
	if err != nil {
		return err
	}
	waiting := 0
	for i, id := range ids {
		if ages[i] < orphanKeep {
			waiting++
			continue
		}
		if err := s.blobs.Remove(ctx, id); err != nil {
			return err
		}
		s.opt.Log.InfoContext(ctx, "removed bytes without a record", "file", id)
	}
	if waiting > 0 {
		s.opt.Log.WarnContext(ctx, "files have no record and will be removed: if the store was replaced by an older copy, bring the right one back before",
			"files", waiting, "after", orphanKeep)
	}
	return nil
}

// dropLost removes records of uploads whose bytes are gone, and reports whole files without bytes. recorded are the ids that were
// not listed, with the groups they belong to.
func (s *Service) dropLost(ctx context.Context, recorded map[string]string) error {
	for id, group := range recorded {
		found, err := s.store.FileRecords(ctx, group, []string{id})
		if err != nil {
			return err
		}
		if len(found) == 0 || found[0].Lost || found[0].Offset == 0 && !found[0].Whole {
			continue // removed meanwhile, known, or nothing was written yet
		}
		if there, err := s.listed(ctx, id); err != nil || there {
			if err != nil {
				return err
			}
			continue // written since
		}
		if found[0].Whole {
			s.opt.Log.ErrorContext(ctx, "a file has lost its bytes: restore them, or run chatd doctor -repair, which marks it as lost", "group", group, "file", id)
			continue
		}
		if err := s.store.DropFile(ctx, group, found[0].Owner, id); err != nil {
			return err
		}
		s.opt.Log.WarnContext(ctx, "removed an upload that has lost its bytes", "group", group, "file", id)
	}
	return nil
}

// listed tells whether there are bytes with this id. No other id begins with so much of it.
func (s *Service) listed(ctx context.Context, id string) (bool, error) {
	items, err := s.blobs.List(ctx, id[:len(id)-1], 1)
	return slices.ContainsFunc(items, func(item Item) bool { return item.ID == id }), err
}

// letters are what ids of files begin with. One of them is looked at in each hour, so that memory holds a small share of the ids.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

// letterAt is the letter of this hour.
func letterAt(now time.Time) byte {
	return letters[now.Unix()/int64(compareEvery/time.Second)%int64(len(letters))]
}
