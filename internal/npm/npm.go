// Package npm runs the tools of JavaScript that builds and tests need, in the versions that the tree names: packages of npm by
// a lock file, and esbuild by tools.mod.
package npm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// files are what `npm ci` reads.
var files = []string{"package.json", "package-lock.json"}

// Install returns a folder node_modules with what package-lock.json in dir names. It is installed once for each content of the
// lock file, into the user's cache and never into the tree, so that everything that needs it shares it. Scripts of packages
// do not run. Nobody writes into the folder.
func Install(ctx context.Context, dir string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	cache = filepath.Join(cache, "chatd-npm")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", err
	}
	made, err := os.MkdirTemp(cache, "new-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(made) }()
	sum := sha256.New()
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprintf(sum, "%d\n%s", len(text), text) // a hash never fails
		if err := os.WriteFile(filepath.Join(made, name), text, 0o600); err != nil {
			return "", err
		}
	}
	installed := filepath.Join(cache, fmt.Sprintf("%x", sum.Sum(nil)[:8]))
	modules := filepath.Join(installed, "node_modules")
	if exists(modules) {
		return modules, nil
	}
	if err := Run(ctx, made, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"); err != nil {
		return "", err
	}
	// Another process may have been faster: what it installed is the same.
	if err := os.Rename(made, installed); err != nil && !exists(modules) {
		return "", err
	}
	return modules, nil
}

// Link makes a folder node_modules with the packages of another, and with more: folders of packages, by name.
func Link(modules, installed string, more map[string]string) error {
	link := func(from, name string) error {
		from, err := filepath.Abs(from)
		if err != nil {
			return err
		}
		to := filepath.Join(modules, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { //nolint:gosec // as npm does
			return err
		}
		return os.Symlink(from, to)
	}
	entries, err := os.ReadDir(installed)
	for _, entry := range entries {
		err = errors.Join(err, link(filepath.Join(installed, entry.Name()), entry.Name()))
	}
	for name, from := range more {
		err = errors.Join(err, link(from, name))
	}
	return err
}

// Root returns the folder of the module, from any folder inside of it.
func Root(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// Esbuild runs esbuild in dir.
func Esbuild(ctx context.Context, dir string, args ...string) error {
	root, err := Root(ctx)
	if err != nil {
		return err
	}
	path, err := exec.CommandContext(ctx, "go", "tool", "-modfile="+filepath.Join(root, "tools.mod"), "-n", "esbuild").Output()
	if err != nil {
		return fmt.Errorf("go tool esbuild: %w", err)
	}
	return Run(ctx, dir, strings.TrimSpace(string(path)), append(args, "--log-level=warning")...)
}

// Run runs a program in dir. What it said is part of the error.
func Run(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, out)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, os.ErrNotExist)
}
