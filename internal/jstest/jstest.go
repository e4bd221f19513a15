// Package jstest runs tests that are written in JavaScript, over the sources of sdk/js.
package jstest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chatd/chatd/internal/npm"
)

// Root returns the folder of the module.
func Root(tb testing.TB) string {
	tb.Helper()
	root, err := npm.Root(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return root
}

// Modules returns a folder node_modules with what sdk/package-lock.json names.
func Modules(tb testing.TB) string {
	tb.Helper()
	modules, err := npm.Install(tb.Context(), filepath.Join(Root(tb), "sdk"))
	if err != nil {
		tb.Fatal(err)
	}
	return modules
}

// Sources returns a folder in which src/ has each source of the client as JavaScript, one file each with a map inside, and
// test/ what lies in sdk/js/test, with Modules. A program that is put into test/ or beside it imports "../src/log.js" and
// packages such as "ws".
func Sources(tb testing.TB) string {
	tb.Helper()
	dir, js := tb.TempDir(), filepath.Join(Root(tb), "sdk", "js")
	sources, err := filepath.Glob(filepath.Join(js, "src", "*.ts"))
	if err != nil {
		tb.Fatal(err)
	}
	err = npm.Esbuild(tb.Context(), js, append(sources, "--outdir="+filepath.Join(dir, "src"), "--format=esm", "--target=es2022", "--sourcemap=inline")...)
	if err == nil {
		err = os.CopyFS(filepath.Join(dir, "test"), os.DirFS(filepath.Join(js, "test")))
	}
	if err == nil {
		err = os.Symlink(Modules(tb), filepath.Join(dir, "node_modules"))
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type": "module"}`), 0o600)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

// Run runs a program with node in dir, and fails the test if it fails. env are variables beside those of the test: "A=b".
func Run(tb testing.TB, dir string, env []string, program ...string) {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), "node", append([]string{"--enable-source-maps"}, program...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("node %v: %v\n%s", program, err, out)
	}
}
