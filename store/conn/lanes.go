package conn

import (
	"maps"
	"sync"

	"github.com/chatd/chatd/queue"
)

// Lanes are where calls are joined with others to the same server. There is one for each server, so that one that hangs delays only
// calls to itself.
type Lanes[L any] struct {
	open func(server Server) *L

	mu sync.RWMutex
	of map[string]lane[L] // by address
}

// lane is where calls to a server are joined. A cluster may have a new client for the same address: then the lane is a new one too.
type lane[L any] struct {
	client queue.Redis
	calls  *L
}

// keeper are lanes of any kind.
type keeper interface{ keep(addrs map[string]bool) }

// NewLanes makes the lanes of a deployment, before it is started. open makes one.
func NewLanes[L any](d *Deployment, open func(server Server) *L) *Lanes[L] {
	l := &Lanes[L]{open: open, of: map[string]lane[L]{}}
	d.lanes = append(d.lanes, l)
	return l
}

// To returns the lane to a server.
func (l *Lanes[L]) To(server Server) *L {
	l.mu.RLock()
	found := l.of[server.Addr]
	l.mu.RUnlock()
	if found.client == server.Client {
		return found.calls
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of[server.Addr].client != server.Client {
		l.of[server.Addr] = lane[L]{server.Client, l.open(server)}
	}
	return l.of[server.Addr].calls
}

// Leads tells whether there is a lane to a server at this address.
func (l *Lanes[L]) Leads(addr string) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.of[addr].calls != nil
}

// keep drops the lanes to servers at other addresses. Calls that are in one go on.
func (l *Lanes[L]) keep(addrs map[string]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.of, func(addr string, _ lane[L]) bool { return !addrs[addr] })
}

// keepLanes drops the lanes to servers that have no partition any more.
func (d *Deployment) keepLanes(homes map[string]bool) {
	for _, l := range d.lanes {
		l.keep(homes)
	}
}
