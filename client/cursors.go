package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"sync"

	"github.com/chatd/chatd/client/internal/disk"
)

// Cursors stores the positions of one device of one user. A position is saved when the caller asks for the next event,
// which means that the previous one was handled: a crash in between repeats an event and never loses one.
type Cursors interface {
	// Load returns all positions, by group.
	Load(ctx context.Context) (map[string]Position, error)
	// Save stores the changed positions; an empty position means that the group may be forgotten.
	Save(ctx context.Context, changed map[string]Position) error
}

// MemoryCursors keeps positions in memory. The zero value is ready to use.
type MemoryCursors struct {
	mu sync.Mutex
	at map[string]Position
}

// Load returns all positions.
func (m *MemoryCursors) Load(context.Context) (map[string]Position, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.at), nil
}

// Save stores the changed positions.
func (m *MemoryCursors) Save(_ context.Context, changed map[string]Position) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at = merge(m.at, changed)
	return nil
}

// FileCursors keeps positions in a file, for one process at a time. Each Save writes a new file, syncs it and renames
// it over the old one, so that a crash leaves one or the other.
type FileCursors struct {
	path string
	mu   sync.Mutex
	at   map[string]Position
}

// NewFileCursors keeps positions at path, whose directory must exist. A file that cannot be read is an error: starting
// over would hide the loss.
func NewFileCursors(path string) (*FileCursors, error) {
	f := &FileCursors{path: path, at: map[string]Position{}}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &f.at); err != nil {
		return nil, fmt.Errorf("positions in %s: %w", path, err)
	}
	return f, nil
}

// Load returns all positions.
func (f *FileCursors) Load(context.Context) (map[string]Position, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.at), nil
}

// Save stores the changed positions; they are on disk when it returns.
func (f *FileCursors) Save(_ context.Context, changed map[string]Position) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := merge(maps.Clone(f.at), changed)
	data, err := json.Marshal(next)
	if err != nil {
		return err
	}
	if err := disk.Replace(f.path, data); err != nil {
		return err
	}
	f.at = next
	return nil
}

func merge(at, changed map[string]Position) map[string]Position {
	if at == nil {
		at = make(map[string]Position, len(changed))
	}
	for group, position := range changed {
		if position == "" {
			delete(at, group)
		} else {
			at[group] = position
		}
	}
	return at
}
