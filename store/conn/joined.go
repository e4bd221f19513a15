package conn

import (
	"context"
	"time"

	"github.com/chatd/chatd/queue/batch"
)

// Joined joins reads that are requested at about the same time. A caller reads at once, unless another one came just before: then
// it waits a moment for more callers, and reads for all of them.
type Joined[Q, A any] struct {
	batch.Batcher[Q, readAnswer[A]]
}

// readAnswer is the answer to one question, or why there is none.
type readAnswer[A any] struct {
	answer A
	err    error
}

// Join joins up to size questions, which read answers in order.
func Join[Q, A any](size int, pause time.Duration, read func(context.Context, []Q) ([]A, error)) *Joined[Q, A] {
	r := &Joined[Q, A]{}
	r.Calls, r.Size, r.Pause = 1, size, pause
	r.Run = func(ctx context.Context, asked []Q) []readAnswer[A] {
		answers, err := read(ctx, asked)
		all := make([]readAnswer[A], len(asked))
		for i := range all {
			if all[i].err = err; err == nil {
				all[i].answer = answers[i]
			}
		}
		return all
	}
	return r
}

// Ask reads the answer to one question. The error of ctx is returned as it is.
func (r *Joined[Q, A]) Ask(ctx context.Context, asked Q) (A, error) {
	a, err := r.Do(ctx, asked)
	if err != nil {
		return a.answer, err
	}
	return a.answer, a.err
}
