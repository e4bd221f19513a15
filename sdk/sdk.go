// Package sdk holds the client for browsers and Node: the sources in js/src, and in js/dist what is made of them. Never edit
// dist/: change the sources and run `go generate ./sdk`, which needs Node; `go build` does not.
package sdk

//go:generate go run ./build

import "embed"

// Files is what a server serves of the client, below js/dist: modules and their source maps.
//
//go:embed js/dist/*.js js/dist/*.map
var Files embed.FS
