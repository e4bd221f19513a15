// Package static holds the browser client: plain ES modules and style sheets, with no build step.
package static

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// Files is the client as it is written. Everything in it is public, and everything works under the content security
// policy `default-src 'none'` with scripts, styles, images and connections from 'self' alone.
//
//go:embed index.html favicon.svg css js vendor
var Files embed.FS

// AssetsPrefix begins the paths of a site that name their content: what is served below it never changes.
const AssetsPrefix = "assets/"

// Site returns what a server serves, by path: every file of the client as it is written, and what index.html loads of them
// in as few requests as possible: the modules as one script, the style sheets as one, and the vendored modules, all below
// AssetsPrefix and a hash of their content. An error means that a module uses syntax that link does not know.
func Site(files fs.FS) (map[string][]byte, error) {
	site := make(map[string][]byte)
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		site[name], err = fs.ReadFile(files, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	assets := make(map[string][]byte)
	var css []byte
	for _, name := range slices.Sorted(maps.Keys(site)) {
		switch {
		case strings.HasPrefix(name, "css/"):
			css = append(css, site[name]...)
		case strings.HasPrefix(name, "vendor/") && path.Ext(name) == ".js":
			assets[name] = site[name]
		}
	}
	assets["app.css"], assets["favicon.svg"] = css, site["favicon.svg"]
	script, sourceMap, err := link(site, "js/main.js")
	if err != nil {
		return nil, err
	}
	assets["app.js"], assets["app.js.map"] = append(script, "//# sourceMappingURL=app.js.map\n"...), sourceMap
	folder := AssetsPrefix + hashOf(assets) + "/"
	for name, body := range assets {
		site[folder+name] = body
	}
	site["index.html"] = bytes.ReplaceAll(site["index.html"], []byte("/"+AssetsPrefix), []byte("/"+folder))
	return site, nil
}

// hashOf is a short hash over names and contents.
func hashOf(files map[string][]byte) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		_, _ = fmt.Fprintf(sum, "%s %d\n%s", name, len(files[name]), files[name]) // a hash never fails
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
