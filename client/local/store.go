package local

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/tidwall/btree"
)

// Change is one change of a Store: Value is put under Key. Without a Value, Key goes, and with Until, all keys from Key on
// that are below Until.
type Change struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value,omitempty"`
	Until string          `json:"until,omitempty"`
}

// Entry is what stands under a key.
type Entry struct {
	Key   string
	Value json.RawMessage
}

// Store is where a Chat keeps what must survive: an ordered map from strings to JSON, for one user of one server. A Chat
// calls one method at a time. Values must not be changed, by either side.
type Store interface {
	// Get returns nil if nothing stands under the key.
	Get(ctx context.Context, key string) (json.RawMessage, error)
	// Range returns the entries with from <= key < to, ascending, or descending from the last one. Limit 0: all of them.
	Range(ctx context.Context, from, to string, limit int, descending bool) ([]Entry, error)
	// Write makes all changes, in their order, or none: after a crash, all of them are there or none is.
	Write(ctx context.Context, changes []Change) error
}

// MemoryStore keeps everything in memory. The zero value is ready to use.
type MemoryStore struct {
	mu   sync.RWMutex
	held btree.Map[string, json.RawMessage]
}

// Get returns what stands under a key.
func (m *MemoryStore) Get(_ context.Context, key string) (json.RawMessage, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	value, _ := m.held.Get(key)
	return value, nil
}

// Range returns the entries of a range of keys.
func (m *MemoryStore) Range(_ context.Context, from, to string, limit int, descending bool) (found []Entry, err error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	take := func(key string, value json.RawMessage) bool {
		if key < from || key >= to {
			return key >= to // the first one of a descent may be beyond the end
		}
		found = append(found, Entry{key, value})
		return len(found) != limit
	}
	if descending {
		m.held.Descend(to, take)
	} else {
		m.held.Ascend(from, take)
	}
	return found, nil
}

// Write makes the changes.
func (m *MemoryStore) Write(_ context.Context, changes []Change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range changes {
		switch {
		case c.Value != nil:
			m.held.Set(c.Key, c.Value)
		case c.Until == "":
			m.held.Delete(c.Key)
		default:
			var gone []string
			m.held.Ascend(c.Key, func(key string, _ json.RawMessage) bool {
				if key < c.Until {
					gone = append(gone, key)
				}
				return key < c.Until
			})
			for _, key := range gone {
				m.held.Delete(key)
			}
		}
	}
	return nil
}
