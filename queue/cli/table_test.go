package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/queue/admin"
)

func TestAway(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "now", 900 * time.Millisecond: "now", -900 * time.Millisecond: "now", 1500 * time.Millisecond: "in 2s", -90 * time.Second: "1m30s ago",
		time.Hour: "in 1h0m0s", -(26*time.Hour + 14*time.Second): "26h0m0s ago", 49 * time.Hour: "in 2d", -366 * 24 * time.Hour: "366d ago",
	} {
		if got := admin.Away(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

// TestForeignTextStaysText prints an error that contains what a remote server answered.
func TestForeignTextStaysText(t *testing.T) {
	foreign := "500 \x1b[2J\x1b]0;x\a\nlast error  none\r\u202eabc\x00\u0085end"
	task := admin.Task{ID: "p00-x", Queue: "egress", Kind: "hook", State: "dead", Priority: "low", Attempts: 9, AttemptsMax: 9, LastError: &foreign}
	for name, text := range map[string]string{"row": newTaskTable().page([][]string{taskCells(task, time.Now())}), "sheet": taskSheet(task)} {
		if strings.ContainsAny(text, "\x1b\a\r\x00\u202e\u0085") || !strings.Contains(text, "500 ") || !strings.HasSuffix(text, "end\n") {
			t.Errorf("%s: %q", name, text)
		}
	}
	if lines := strings.Count(newTaskTable().page([][]string{taskCells(task, time.Now())}), "\n"); lines != 2 {
		t.Errorf("a head and a row of %d lines", lines)
	}
	long := strings.Repeat("ä", 500)
	task.LastError = &long
	if why := taskCells(task, time.Now())[7]; !strings.HasSuffix(why, "ä…") || strings.Count(why, "ä") != errorRunesMax-1 {
		t.Errorf("row: %q", why)
	}
	if sheet := taskSheet(task); strings.Count(sheet, "ä") != 500 {
		t.Errorf("sheet: %q", sheet)
	}
}

// TestColumnsFitTheirCells lists a delivery to a webhook, whose id is longer than others: every column begins where its name does,
// and those of the next page are no narrower.
func TestColumnsFitTheirCells(t *testing.T) {
	now := time.Now()
	plainTask := admin.Task{ID: "p00-4UDU4ORNOZUHSFIO7HL3SVPYVV", Queue: "core", Kind: "mention", State: "ready", Priority: "high", AttemptsMax: 8}
	delivery := admin.Task{ID: plainTask.ID + "~" + strings.Repeat("w", 40), Queue: "egress", Kind: "archive_compare_and_more", State: "delayed", Priority: "critical",
		Attempts: 10, AttemptsMax: 25, DueAt: &now}
	rows := newTaskTable()
	lines := strings.Split(rows.page([][]string{taskCells(plainTask, now), taskCells(delivery, now)})+rows.page([][]string{taskCells(plainTask, now)}), "\n")
	if len(lines) != 5 {
		t.Fatalf("got %q, want a head and three rows", lines)
	}
	for i, task := range map[int]admin.Task{1: plainTask, 2: delivery, 3: plainTask} {
		for name, cell := range map[string]string{"QUEUE": task.Queue, "KIND": task.Kind, "STATE": string(task.State), "PRIORITY": task.Priority} {
			if at := strings.Index(lines[0], name); !strings.HasPrefix(lines[i][at-2:], "  "+cell) {
				t.Errorf("%s of row %d is not under its name:\n%s", name, i, strings.Join(lines, "\n"))
			}
		}
		if attempts := fmt.Sprintf(" %d/%d  ", task.Attempts, task.AttemptsMax); !strings.HasPrefix(lines[i][strings.Index(lines[0], "ATTEMPTS")+len("ATTEMPTS")-len(attempts)+2:], attempts) {
			t.Errorf("the attempts of row %d do not end under their name:\n%s", i, strings.Join(lines, "\n"))
		}
	}
	if more := rows.page(nil); more != "" {
		t.Errorf("an empty page: got %q", more)
	}
}

// TestStatsNameKindsThatNobodyRuns: a line for each queue that has some, safe for a terminal.
func TestStatsNameKindsThatNobodyRuns(t *testing.T) {
	got := statsTable([]admin.Queue{{Queue: "core", Unserved: []string{"old", "n\x1bew"}}, {Queue: "egress"}})
	if want := "\ncore: no server runs the waiting tasks of kind old, n\uFFFDew\n"; !strings.HasSuffix(got, want) || strings.Contains(got, "egress: ") {
		t.Errorf("got %q, want it to end with %q", got, want)
	}
}

// TestLimitsNameWhoHoldsThem: a row names the first tasks that have slots, safe for a terminal, and for how long others wait.
func TestLimitsNameWhoHoldsThem(t *testing.T) {
	now := time.Now()
	since := now.Add(-90 * time.Second)
	l := admin.Limit{Queue: "egress", Key: "a\x1bb", Held: 4, Waiting: 7, WaitingSince: &since, Holders: []string{"p00-1", "p00-2", "p00-3", "p00-4"}}
	got := limitCells(l, now)
	want := []string{"a\uFFFDb", "egress", "4", "7", "1m30s ago", "p00-1 p00-2 p00-3 …"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	l.WaitingSince, l.Waiting, l.Holders = nil, 0, l.Holders[:1]
	if got := limitCells(l, now); !slices.Equal(got, []string{"a\uFFFDb", "egress", "4", "0", "", "p00-1"}) {
		t.Errorf("nobody waits: %q", got)
	}
}
