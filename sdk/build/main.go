// Command build makes the folders dist of the packages sdk/js and sdk/react: modules by esbuild and terser, and declarations by
// tsc, which checks the types. It runs in the folder sdk.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/chatd/chatd/internal/npm"
)

// A bundle holds all that it imports of its package, since a page loads it as one file; so what two of them import must not
// have an identity, such as a class of errors.
var packages = []struct {
	name    string
	bundles []string // by name of what is made
}{
	{"js", []string{"chatd=src/index.ts", "indexeddb=src/indexeddb.ts", "file=src/file.ts", "writing=src/writing.ts", "widget=src/widget.ts"}},
	{"react", []string{"index=src/index.ts"}},
}

func main() {
	if err := build(context.Background(), "."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// build makes dist/ of each package below sdk. While it runs there is a node_modules in sdk, for tsc.
func build(ctx context.Context, sdk string) (err error) {
	installed, err := npm.Install(ctx, sdk)
	if err != nil {
		return err
	}
	modules := filepath.Join(sdk, "node_modules")
	if err := os.RemoveAll(modules); err != nil {
		return err
	}
	if err := npm.Link(modules, installed, map[string]string{"@chatd/client": filepath.Join(sdk, "js")}); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(modules) }()
	for _, p := range packages {
		dir := filepath.Join(sdk, p.name)
		if err := os.RemoveAll(filepath.Join(dir, "dist")); err != nil {
			return err
		}
		args := append([]string{
			"--bundle", "--minify", "--format=esm", "--target=es2022", "--packages=external", "--external:node:*", "--sourcemap", "--outdir=dist",
		}, p.bundles...)
		if err := npm.Esbuild(ctx, dir, args...); err != nil {
			return err
		}
		if err := shrink(ctx, dir, installed); err != nil {
			return err
		}
		if err := npm.Run(ctx, dir, "node", filepath.Join(installed, "typescript", "bin", "tsc"), "--outDir", "dist"); err != nil {
			return err
		}
	}
	return nil
}

// shrink has the modules in dist, which esbuild has minified, made smaller once more: terser looks across statements, and saves a
// twenty-fifth of what a page loads.
func shrink(ctx context.Context, dir, installed string) error {
	modules, err := filepath.Glob(filepath.Join(dir, "dist", "*.js"))
	if err != nil {
		return err
	}
	for _, module := range modules {
		name := filepath.Join("dist", filepath.Base(module))
		err := npm.Run(ctx, dir, "node", filepath.Join(installed, "terser", "bin", "terser"), name, "--module", "--ecma", "2022",
			"--compress", "lhs_constants=false", "--mangle", "--source-map", "content="+name+".map,includeSources,url="+filepath.Base(module)+".map", "--output", name)
		if err != nil {
			return err
		}
	}
	return nil
}
