package queue

import (
	"log/slog"
	"strings"
	"testing"
)

func TestLogRunsTakesTheLevelOfTheVerdict(t *testing.T) {
	t.Parallel()
	for verdict, want := range map[string]string{
		"complete": "DEBUG", "snooze": "DEBUG", "retry": "WARN", "bury": "ERROR", "expire": "ERROR", "return": "INFO", "lost": "INFO",
		"cancelled": "INFO",
	} {
		for _, least := range []slog.Level{slog.LevelDebug, slog.LevelError + 1} {
			var out strings.Builder
			LogRuns(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: least})))(Run{Kind: "k", Verdict: verdict})
			if got := out.String(); (least == slog.LevelDebug) != strings.Contains(got, "level="+want+" ") || strings.Contains(got, "error=") {
				t.Errorf("%s from %v on: logged %q", verdict, least, got)
			}
		}
	}
}
