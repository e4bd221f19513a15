package node

import (
	"fmt"

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
