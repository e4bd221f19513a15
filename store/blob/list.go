package blob

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/chatd/chatd/chat/files"
)

// List reads one fan-out folder after the other, so that its memory is bounded by the largest of them.
func (d *dir) List(ctx context.Context, after string, limit int) ([]files.Item, error) {
	var folders []string
	for _, kind := range []string{uploadsFolder, blobsFolder} {
		entries, err := os.ReadDir(filepath.Join(d.root, kind))
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if entry.IsDir() && entry.Name() >= after[:min(fanOut, len(after))] {
				folders = append(folders, entry.Name())
			}
		}
	}
	slices.Sort(folders)
	var items []files.Item
	for _, folder := range slices.Compact(folders) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		found, err := d.items(folder, after)
		if err != nil {
			return nil, err
		}
		if items = append(items, found...); len(items) >= limit {
			return items[:limit], nil
		}
	}
	return items, nil
}

// items returns what is in a fan-out folder above after, in order. Where an id is both, because a crash came between the
// halves of a rename, it is whole.
func (d *dir) items(folder, after string) ([]files.Item, error) {
	var items []files.Item
	for _, kind := range []string{blobsFolder, uploadsFolder} {
		entries, err := os.ReadDir(filepath.Join(d.root, kind, folder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, entry := range entries {
			if entry.Name() <= after || checkID(entry.Name()) != nil {
				continue
			}
			info, err := entry.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // removed since
			}
			if err != nil {
				return nil, err
			}
			items = append(items, files.Item{ID: entry.Name(), Size: info.Size(), Modified: info.ModTime(), Whole: kind == blobsFolder})
		}
	}
	slices.SortStableFunc(items, func(a, b files.Item) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(items, func(a, b files.Item) bool { return a.ID == b.ID }), nil
}
