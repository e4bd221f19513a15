package chat

import (
	"context"
	"sync/atomic"
)

// Meter counts what a call makes the node and its store do, where that depends on how many groups its caller is in. It is
// safe for concurrent use.
type Meter struct {
	groups atomic.Int64
	index  atomic.Int64
}

type meterKey struct{}

// WithMeter has m count what is done with the context.
func WithMeter(ctx context.Context, m *Meter) context.Context {
	return context.WithValue(ctx, meterKey{}, m)
}

// Groups returns how many groups were looked at since it was called last.
func (m *Meter) Groups() int { return int(m.groups.Swap(0)) }

// Index returns how many groups the caller is in, as it was read last; ok is false if it was not read.
func (m *Meter) Index() (groups int, ok bool) {
	n := m.index.Load()
	return int(n - 1), n > 0
}

// PageLooks is how many looks at a group cost about as much as reading more of it, its Info or a page.
const PageLooks = 4

// Looked counts groups that were looked at.
func Looked(ctx context.Context, groups int) {
	if m, ok := ctx.Value(meterKey{}).(*Meter); ok {
		m.groups.Add(int64(groups))
	}
}

// LookedAll counts all groups of the caller.
func LookedAll(ctx context.Context, groups int) {
	if m, ok := ctx.Value(meterKey{}).(*Meter); ok {
		m.groups.Add(int64(groups))
		m.index.Store(int64(groups) + 1)
	}
}
