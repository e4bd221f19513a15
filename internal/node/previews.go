package node

import (
	"github.com/chatd/chatd/chat/previews"
	"github.com/chatd/chatd/internal/build"
	"github.com/chatd/chatd/internal/unfurl"
)

// openPreviews makes the service of previews of links; nil if they are off.
func openPreviews(n *Node) *previews.Service {
	if n.set.Previews == "off" {
		return nil
	}
	pages := unfurl.New(n.set.egress, "chatd/"+build.Read().Version+" (+link preview)")
	return previews.New(n.store.Previews, previews.Options{Fetch: pages.Fetch, Close: pages.Close, NowMs: n.clock.NowMs, Log: n.log})
}
