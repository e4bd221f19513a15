// Command build makes sdk/js/dist of sdk/js/src: modules by esbuild, and declarations by tsc, which checks the types. It runs
// in the folder sdk.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/chatd/chatd/internal/npm"
)

// modules are the entries of the package by the name of what is made of them. Each holds all that it imports, since a page
// loads it as one file; so what two of them import must not have an identity, such as a class of errors.
var modules = []string{"chatd=src/index.ts", "indexeddb=src/indexeddb.ts", "file=src/file.ts"}

func main() {
	if err := build(context.Background(), "js", "dist"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// build makes the folder to, seen from js, which is the one of the package.
func build(ctx context.Context, js, to string) error {
	if err := os.RemoveAll(filepath.Join(js, to)); err != nil {
		return err
	}
	args := append([]string{"--bundle", "--minify", "--format=esm", "--target=es2022", "--external:node:*", "--sourcemap", "--outdir=" + to}, modules...)
	if err := npm.Esbuild(ctx, js, args...); err != nil {
		return err
	}
	installed, err := npm.Install(ctx, filepath.Dir(js))
	if err != nil {
		return err
	}
	return npm.Run(ctx, js, "node", filepath.Join(installed, "typescript", "bin", "tsc"), "--outDir", to)
}
