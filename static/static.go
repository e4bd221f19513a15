// Package static holds the browser client: plain ES modules, served as they are, with no build step.
package static

import "embed"

// Files is the client, with index.html at its root. Everything in it is public, and everything works under the content
// security policy `default-src 'none'` with scripts, styles, images and connections from 'self' alone.
//
//go:embed index.html favicon.svg css js vendor
var Files embed.FS
