// Package static holds the browser client: plain ES modules, served as they are, with no build step.
package static

import "embed"

// Files is the client, with index.html at its root. Everything in it is public.
//
//go:embed index.html
var Files embed.FS
