package archive

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// However often a database fails and answers, the log has at most one line about it a minute, and one about its return for each
// of those that said that it is away.
func TestFailuresOfTheArchiveAreALineAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := &failureLog{log: slog.New(slog.NewTextHandler(&out, nil))}
		for range 10 * 60 { // ten minutes in which it answers every other second
			l.failure(t.Context(), errors.New("away"), true)
			l.failure(t.Context(), errors.New("refused"), false)
			l.back(t.Context())
			<-time.After(time.Second)
		}
		text := out.String()
		if away, back := strings.Count(text, "does not answer"), strings.Count(text, "answers again"); away != 10 || back != 10 {
			t.Errorf("%d lines that it is away and %d that it is back, want 10 of each:\n%s", away, back, text)
		}
		if !strings.Contains(text, "failures=120") {
			t.Errorf("no line says how many failures there were:\n%s", text)
		}
	})
}
