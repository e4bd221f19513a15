package queue

import (
	"context"
	"log/slog"
)

// LogRuns returns a function for Options.Observe that logs every run with its queue, kind, task, attempt, verdict, how
// late it began and how long it took: runs that complete or snooze at level Debug, those that lost their task, were
// cancelled or given back at Info, failed ones that are retried at Warn, and those that made a dead letter at Error. An
// Observe that also counts calls it:
//
//	logged := queue.LogRuns(logger)
//	o.Observe = func(r queue.Run) {
//		logged(r)
//		runs.WithLabelValues(r.Queue, r.Kind, r.Verdict).Inc()
//	}
func LogRuns(logger *slog.Logger) func(Run) {
	return func(r Run) {
		level := slog.LevelInfo
		switch verdict(r.Verdict) {
		case complete, snooze:
			level = slog.LevelDebug
		case retry:
			level = slog.LevelWarn
		case bury, expire:
			level = slog.LevelError
		}
		ctx := context.Background()
		if !logger.Enabled(ctx, level) {
			return
		}
		fields := []slog.Attr{
			slog.String("queue", r.Queue), slog.String("kind", r.Kind), slog.String("task", r.ID), slog.Int("attempt", r.Attempt),
			slog.String("verdict", r.Verdict), slog.Duration("late", r.Late), slog.Duration("took", r.Took),
		}
		if r.Reason != "" {
			fields = append(fields, slog.String("error", r.Reason))
		}
		logger.LogAttrs(ctx, level, "task ran", fields...)
	}
}
