// Package sdk holds the client for browsers and Node: the sources in js/src, and in js/dist what is made of them. Never edit
// dist/: change the sources and run `go generate ./sdk`, which needs Node; `go build` does not.
package sdk

//go:generate go run ./build

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
)

// What browsers load, and not what is for Node.
//
//go:embed js/dist/chatd.js js/dist/chatd.js.map js/dist/indexeddb.js js/dist/indexeddb.js.map js/dist/widget.js js/dist/widget.js.map
var files embed.FS

// Served returns what a server gives to browsers, by name: modules and their source maps.
func Served() (map[string][]byte, error) {
	names, err := fs.Glob(files, "js/dist/*")
	if err != nil {
		return nil, fmt.Errorf("the JavaScript client: %w", err)
	}
	served := make(map[string][]byte)
	for _, name := range names {
		if served[path.Base(name)], err = files.ReadFile(name); err != nil {
			return nil, fmt.Errorf("the JavaScript client: %w", err)
		}
	}
	return served, nil
}
