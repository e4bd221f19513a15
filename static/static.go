// Package static holds the browser client and the admin page: TypeScript on the public surface of the JavaScript client, style
// sheets, and in dist/ what esbuild makes of them. Never edit dist/: change the sources and run `go generate ./static`.
package static

//go:generate rm -rf dist
//go:generate go tool -modfile=../tools.mod esbuild main=page/main.tsx page=page/css/page.css app=page/css/app.css --alias:preact=./vendor/preact.js --alias:preact/hooks=./vendor/preact-hooks.js --alias:preact/jsx-runtime=./vendor/preact-jsx.js --alias:@chatd/client=../sdk/js/dist/chatd.js --alias:@chatd/client/indexeddb=../sdk/js/dist/indexeddb.js --bundle --splitting --minify --charset=utf8 --format=esm --target=es2022 --jsx=automatic --jsx-import-source=preact --loader:.woff2=file --asset-names=[name] --chunk-names=[name]-[hash] --sourcemap --sources-content=false --source-root=/dist/ --outdir=dist --log-level=warning
//go:generate go tool -modfile=../tools.mod esbuild admin=page/admin/main.tsx admin=page/css/admin.css --alias:preact=./vendor/preact.js --alias:preact/hooks=./vendor/preact-hooks.js --alias:preact/jsx-runtime=./vendor/preact-jsx.js --bundle --splitting --minify --charset=utf8 --format=esm --target=es2022 --jsx=automatic --jsx-import-source=preact --loader:.woff2=file --asset-names=[name] --chunk-names=[name]-[hash] --sourcemap --sources-content=false --source-root=/dist/ --outdir=dist --log-level=warning
//go:generate go tool -modfile=../tools.mod esbuild sw=page/worker/sw.ts --bundle --minify --charset=utf8 --format=iife --target=es2022 --outdir=dist --log-level=warning

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// Files is the client as it is written, and what is made of it. Everything in it is public, and everything works under the
// content security policy `default-src 'none'` with scripts, styles, images and connections from 'self' alone.
//
//go:embed index.html admin.html favicon.svg manifest.webmanifest icons page vendor/*.js vendor/*.LICENSE vendor/README.md dist
var Files embed.FS

// AssetsPrefix begins the paths of a site that name their content: what is served below it never changes.
const AssetsPrefix = "assets/"

// Site returns what a server serves, by path: every file of the client as it is written, to which the source maps lead, and
// what a browser loads, below AssetsPrefix and a hash of its content.
func Site(files fs.FS) (map[string][]byte, error) {
	site, assets := make(map[string][]byte), make(map[string][]byte)
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		to := site
		asset, made := strings.CutPrefix(name, "dist/")
		if made {
			to = assets
		}
		to[asset], err = fs.ReadFile(files, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	assets["favicon.svg"] = site["favicon.svg"]
	worker := assets[workerName]
	delete(assets, workerName)
	folder := AssetsPrefix + hashOf(assets) + "/"
	for name, body := range assets {
		site[folder+name] = body
	}
	for _, page := range []string{"index.html", "admin.html"} {
		site[page] = bytes.ReplaceAll(site[page], []byte("/"+AssetsPrefix), []byte("/"+folder))
	}
	site[workerName], err = serviceWorker(worker, site, folder)
	return site, err
}

// workerName is at the root: a service worker is for what lies beside and below its address, which must not change.
const workerName = "sw.js"

// emojiFace is loaded where the system has no emoji.
const emojiFace = "noto-emoji.woff2"

// serviceWorker tells the service worker which files the page is made of. Those of the admin page, which is for whoever has a
// connection, source maps, and the face for whoever has no emoji are none of them.
func serviceWorker(script []byte, site map[string][]byte, folder string) ([]byte, error) {
	shell := struct {
		Version string   `json:"version"`
		Folder  string   `json:"folder"`
		Files   []string `json:"files"`
	}{Folder: "/" + folder}
	shell.Version = hashOf(map[string][]byte{"index.html": site["index.html"], workerName: script})
	for _, name := range slices.Sorted(maps.Keys(site)) {
		asset, is := strings.CutPrefix(name, folder)
		if is && !strings.HasSuffix(asset, ".map") && !strings.HasPrefix(asset, "admin.") && asset != emojiFace {
			shell.Files = append(shell.Files, "/"+name)
		}
	}
	list, err := json.Marshal(shell)
	if err != nil {
		return nil, fmt.Errorf("the files of the page: %w", err)
	}
	return fmt.Appendf(nil, "const SHELL=%s;\n%s", list, script), nil
}

// hashOf is a short hash over names and contents.
func hashOf(files map[string][]byte) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		_, _ = fmt.Fprintf(sum, "%s %d\n%s", name, len(files[name]), files[name]) // a hash never fails
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
