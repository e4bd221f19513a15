package node

import (
	"fmt"
	"slices"

	"github.com/chatd/chatd/sdk"
	"github.com/chatd/chatd/static"
)

// siteFiles are the browser client by path, and below sdk/ the JavaScript client.
func siteFiles() (map[string][]byte, error) {
	site, err := static.Site(static.Files)
	if err != nil {
		return nil, fmt.Errorf("the browser client: %w", err)
	}
	modules, err := sdk.Served()
	if err != nil {
		return nil, err
	}
	for name, body := range modules {
		site["sdk/"+name] = body
	}
	return site, nil
}

// features names what is switched on, in order.
func (n *Node) features() []string {
	on := []string{"announcements", "batch", "blocks", "direct", "hooks", "invites", "keys", "push", "reports", "schedules", "streams", "users", "webhooks"}
	if n.archiveDB != nil {
		on = append(on, "archive", "search")
	}
	if n.blobs != nil {
		on = append(on, "files")
	}
	if n.set.OIDC != "" {
		on = append(on, "oidc")
	}
	if n.services.Previews != nil {
		on = append(on, "previews")
	}
	if n.set.dev {
		on = append(on, "dev")
	}
	slices.Sort(on)
	return on
}
