package build

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
)

const (
	one   = "1111111111111111111111111111111111111111"
	other = "2222222222222222222222222222222222222222"
)

// TestImageNamesItsCommit runs the build of the Dockerfile in what .dockerignore leaves of a repository, with a go that builds
// a program that only prints its commit.
func TestImageNamesItsCommit(t *testing.T) {
	dockerfile, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	run := regexp.MustCompile(`(?ms)^RUN (commit=.*?[^\\])\n`).FindStringSubmatch(string(dockerfile))
	if run == nil {
		t.Fatal("no line of the Dockerfile sets the commit")
	}
	ignored, err := os.ReadFile("../../.dockerignore")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"\n.git/*\n", "\n!.git/HEAD\n", "\n!.git/packed-refs\n", "\n!.git/refs\n"} {
		if !strings.Contains("\n"+string(ignored), line) {
			t.Errorf(".dockerignore has no line %q", strings.TrimSpace(line))
		}
	}
	goPath, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	// Of the arguments of the build, what has to be linked stays. The flags of this test may need cgo, the Dockerfile does without.
	fake := fmt.Sprintf("#!/bin/sh\nfor arg; do case $arg in -ldflags=*) flags=$arg;; esac; done\ncd '%s' && CGO_ENABLED=1 exec '%s' run \"$flags\" ./testdata/print\n", here, goPath)

	for name, c := range map[string]struct {
		files map[string]string // of .git
		given string
		want  string
	}{
		"a branch":             {map[string]string{"HEAD": "ref: refs/heads/main\n", "refs/heads/main": one + "\n"}, "", one},
		"a packed branch":      {map[string]string{"HEAD": "ref: refs/heads/main\n", "refs/heads/x": other, "packed-refs": one + " refs/heads/main\n"}, "", one},
		"a commit":             {map[string]string{"HEAD": one + "\n", "refs/heads/main": other + "\n"}, "", one},
		"given":                {map[string]string{"HEAD": one + "\n", "refs/heads/main": one}, other, other},
		"given, no repository": {nil, other, other},
		"no repository":        {nil, "", "unknown"},
		"of another folder":    {map[string]string{"": "gitdir: /elsewhere\n"}, "", "unknown"},
	} {
		root := t.TempDir()
		bin := filepath.Join(root, "bin", "go")
		write(t, bin, fake, 0o700)
		src := filepath.Join(root, "src")
		write(t, filepath.Join(src, "go.mod"), "", 0o600)
		for path, text := range c.files {
			write(t, filepath.Join(src, ".git", path), text, 0o600)
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-ec", strings.ReplaceAll(run[1], "/out", root+"/out"))
		cmd.Dir = src
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(bin)+":"+os.Getenv("PATH"), "COMMIT="+c.given, "GIT_CEILING_DIRECTORIES="+root)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
			t.Errorf("%s: got %q, %v; want %s", name, got, err, c.want)
		}
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func TestCommitThatTheToolchainRecorded(t *testing.T) {
	revision, changed := debug.BuildSetting{Key: "vcs.revision", Value: one}, debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	for want, settings := range map[string][]debug.BuildSetting{
		one: {revision, {Key: "vcs.modified", Value: "false"}}, one + "+dirty": {changed, revision}, "": {{Key: "GOOS", Value: "linux"}},
	} {
		if got := recorded(settings); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
