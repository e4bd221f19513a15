package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/internal/redistest"
)

const reportHead = `# What make bench measured

` + "`make bench`" + ` writes this page; do not edit it. All figures come from one run on one machine, on which chatd ran beside
redis-server and what it is compared with:

%s
Do not compare figures of different runs or machines; compare ratios, and figures that are counts. A ratio is the
figure of its row divided by that of what the last column names, with the target if there is one.

`

// report writes bench/RESULTS.md and the charts in docs/images into a tree of the repository.
func report(b *bench, root string) error {
	var page bytes.Buffer
	fmt.Fprintf(&page, reportHead, machine(b))
	if *only != "" {
		fmt.Fprintf(&page, "This run measured only a part of it (`-only %s`).\n\n", *only)
	}
	for _, s := range b.table.sections {
		fmt.Fprintf(&page, "## %s\n\n| what | figure | ratio | to |\n|---|---|---|---|\n", capitalized(s.name))
		for _, r := range s.rows {
			fmt.Fprintf(&page, "| %s | %s | %s | %s |\n", r.what, r.figure, r.ratio, r.against)
		}
		page.WriteString("\n")
		if s.chart == nil {
			continue
		}
		var drawn bytes.Buffer
		if err := s.chart.write(&drawn); err != nil {
			return err
		}
		name := "docs/images/" + s.chart.file + ".svg"
		if err := os.WriteFile(filepath.Join(root, name), drawn.Bytes(), 0o644); err != nil { //nolint:gosec // everybody may read the docs
			return err
		}
		fmt.Fprintf(&page, "![%s](../%s)\n\n", s.chart.title, name)
	}
	return os.WriteFile(filepath.Join(root, "bench", "RESULTS.md"), page.Bytes(), 0o644) //nolint:gosec // as above
}

func capitalized(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// machine lists what the figures depend on.
func machine(b *bench) string {
	var list strings.Builder
	item := func(name, value string) { fmt.Fprintf(&list, "- %s: %s\n", name, value) }
	item("date", time.Now().UTC().Format(time.DateOnly))
	item("chatd", cmdOutput("git", "describe", "--always", "--dirty"))
	item("processors", fmt.Sprintf("%d x %s", runtime.NumCPU(), lineOf("/proc/cpuinfo", "model name")))
	item("memory", lineOf("/proc/meminfo", "MemTotal"))
	item("system", runtime.GOOS+"/"+runtime.GOARCH+" "+cmdOutput("uname", "-r"))
	item("Go", runtime.Version())
	item("redis-server", infoText(b.redis, "redis_version"))
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, m := range build.Deps {
			if name := path.Base(m.Path); name == "asynq" || name == "river" {
				item(name, m.Version)
			}
		}
	}
	item("go-redis", redis.Version())
	return list.String()
}

// lineOf returns the value of a name in a file of /proc; "unknown" on systems without it.
func lineOf(file, name string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return "unknown"
	}
	for l := range strings.Lines(string(text)) {
		if key, value, found := strings.Cut(l, ":"); found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

func cmdOutput(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output() //nolint:noctx // a moment
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// commandStat is what redis-server has done of one command since CONFIG RESETSTAT.
type commandStat struct {
	calls, us float64 // us: the time that it was busy with them, in microseconds
}

// commandStats returns the statistics of each command by its name, as "evalsha" or "config|resetstat".
func commandStats(server *redistest.Server) map[string]commandStat {
	info, _ := server.Do("INFO", "commandstats").(string)
	stats := map[string]commandStat{}
	for text := range strings.Lines(info) {
		name, rest, _ := strings.Cut(strings.TrimPrefix(text, "cmdstat_"), ":")
		var s commandStat
		if _, err := fmt.Sscanf(rest, "calls=%g,usec=%g,", &s.calls, &s.us); err == nil {
			stats[name] = s
		}
	}
	return stats
}

// infoText returns the value of a field of INFO.
func infoText(server *redistest.Server, name string) string {
	info, _ := server.Do("INFO").(string)
	_, rest, _ := strings.Cut(info, "\n"+name+":")
	text, _, _ := strings.Cut(rest, "\r")
	return text
}
