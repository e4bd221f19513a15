package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chatd/chatd/internal/harness"
)

// TestCompletion asks the script in bash, as a tab does.
func TestCompletion(t *testing.T) {
	folder := t.TempDir()
	if err := os.Symlink(harness.Binary(t), filepath.Join(folder, "chatd")); err != nil {
		t.Fatal(err)
	}
	script, _, err := call(t, "completion", "bash")
	if err != nil {
		t.Fatal(err)
	}
	tab := func(words ...string) []string {
		t.Helper()
		ask := script + `COMP_WORDS=(chatd "$@"); COMP_CWORD=$#; _chatd; printf '%s\n' "${COMPREPLY[@]}"`
		cmd := exec.CommandContext(t.Context(), "bash", append([]string{"-c", ask, "bash"}, words...)...)
		cmd.Env = []string{"PATH=" + folder + ":" + os.Getenv("PATH"), "HOME=" + folder}
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", words, err)
		}
		return strings.Fields(string(out))
	}
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"se"}, "serve send"},
		{[]string{"compl"}, "completion"}, // and not what the scripts ask
		{[]string{"audit", "--ac"}, "--action"},
		{[]string{"users", "pass"}, "passwd"},
		{[]string{"tasks", "ls", "-state", "de"}, "delayed dead"},
		{[]string{"tail", "-since", "5", "-st"}, "-state"},
		{[]string{"send", "general", "--rep"}, "--reply-to"},
		{[]string{"completion", ""}, "bash zsh fish"},
		{[]string{"help", "wh"}, "whoami"},
		{[]string{"send", "general", "x"}, ""},
		{[]string{"process", "-group", "g", "--", "-u"}, ""},
		{[]string{"groups", "-jwt-sec"}, "-jwt-secret -jwt-secret-file"},
	} {
		if got := strings.Join(tab(c.words...), " "); got != c.want {
			t.Errorf("%v: got %q, want %q", c.words, got, c.want)
		}
	}
	if all := tab("send", "-"); !slices.Contains(all, "-payload") || slices.Contains(all, "-redis") {
		t.Errorf("send -: got %v, want its own flags and not the server's settings", all)
	}
	if help, _, err := call(t, "help", "send"); err != nil || strings.Contains(help, "CHATD_REDIS") || !strings.Contains(help, "--payload") {
		t.Errorf("help of a command for people: %v\n%s", err, help)
	}
	for _, shell := range []string{"zsh", "fish"} {
		if script, _, err := call(t, "completion", shell); err != nil || !strings.Contains(script, "complete-words") {
			t.Errorf("%s: %v\n%s", shell, err, script)
		}
	}
}
