// Command describe generates from openapi.yaml what package web uses: the table of routes by which it checks requests,
// and the readable documentation; and the plain calls of the JavaScript client. So the server does not parse YAML at its start and does not link a parser. `go
// generate` runs it in the folder of package web.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/getkin/kin-openapi/openapi3"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "describe:", err)
		os.Exit(1)
	}
}

// run writes the files next to the description in dir.
func run(dir string) error {
	files, err := describe(dir)
	for name, content := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), content, 0o644)) //nolint:gosec // source files, which everyone may read
	}
	return err
}

// describe makes the files, by name, of the description in dir.
func describe(dir string) (map[string][]byte, error) {
	doc, err := openapi3.NewLoader().LoadFromFile(filepath.Join(dir, "openapi.yaml"))
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	routes, routesErr := renderRoutes(doc)
	docs, docsErr := renderDocs(doc)
	calls, callsErr := renderCalls(doc)
	if err := errors.Join(routesErr, docsErr, callsErr); err != nil {
		return nil, err
	}
	return map[string][]byte{"routes.gen.go": routes, "docs.gen.html": docs, "../sdk/js/src/calls.gen.ts": calls}, nil
}
