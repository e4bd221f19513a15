package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/chat/stream"
)

// What the section about streams writes.
const (
	streamWriters = 200
	streamsEach   = 20 // in a group
	streamMembers = 100
	streamPieces  = 200 // of each
	streamEvery   = 50 * time.Millisecond
)

// written is a section of streams under way.
type written struct {
	*bench
	service *stream.Service
	ids     []int64
	pieces  int
	text    string // that each message has in the end
	refused atomic.Int64
}

// streams measures messages that are written piece by piece: what a piece costs, and what readers get who keep up, or do not.
func streams(b *bench) {
	fresh(b, func(own *bench) {
		w := &written{bench: own, service: stream.New(own.service, own.store, own.store, 0), pieces: max(5, scaled(streamPieces))}
		for n := range w.pieces {
			w.text += streamPiece(n)
		}
		w.measure(max(2, scaled(streamWriters)), max(2, scaled(streamMembers)))
	})
}

func streamPiece(n int) string { return fmt.Sprintf("%07d ", n) }

func streamGroup(i int) string { return fmt.Sprintf("streams-%d", i/streamsEach) }

func (w *written) measure(writers, members int) {
	w.table.section(fmt.Sprintf("%d messages written piece by piece, 20 pieces a second each, in groups of %d", writers, members))
	owner := chat.Caller{User: "owner"}
	for i := range writers {
		if i%streamsEach == 0 {
			ok(w.group(streamGroup(i), members-1))
		}
		sent := must(w.bench.service.Send(w.ctx, owner, streamGroup(i), chat.Content{Kind: chat.Text, Body: new(""), Stream: chat.StreamOpen}, ""))
		w.ids = append(w.ids, sent.ID)
	}
	readers := make([]*live.Follower, members-1) // all but the writer
	for i := range readers {
		readers[i] = must(w.live.Follow(w.ctx, chat.Caller{User: fmt.Sprintf("user-%d", i)}, live.Scope{}))
		defer readers[i].Close()
	}
	slow := must(w.live.Follow(w.ctx, chat.Caller{User: "user-0"}, live.Scope{}))
	defer slow.Close()

	var frames atomic.Int64
	errs := make([]error, len(readers))
	var reading sync.WaitGroup
	for i, reader := range readers {
		reading.Go(func() {
			n, err := w.follow(reader)
			frames.Add(int64(n))
			errs[i] = err
		})
	}
	var times []time.Duration
	commands, _ := w.traffic.during(func() (err error) { times, err = w.write(owner); return err })
	reading.Wait()
	ok(errors.Join(errs...))
	all := writers * w.pieces
	w.table.spread("a piece, until it is stored", times)
	w.table.count("commands to Redis of a piece, with all that the node does meanwhile", "%.2f", float64(commands)/float64(all))
	w.table.count("pieces that came too fast, and were sent again", "%d of %d", w.refused.Load(), all)
	w.table.count("frames to a reader who keeps up", "%.2f a piece", float64(frames.Load())/float64(len(readers)*all))
	commands, _ = w.traffic.during(func() error {
		n, err := w.follow(slow)
		w.table.count("frames to a reader who took nothing meanwhile, until they have all", "%.2f a message", float64(n)/float64(writers))
		return err
	})
	w.table.count("commands to Redis for that", "%d", commands)
}

// write has all messages written at once, and returns how long each piece took.
func (w *written) write(owner chat.Caller) (times []time.Duration, err error) {
	var mu sync.Mutex
	var writing sync.WaitGroup
	errs := make([]error, len(w.ids))
	for i := range w.ids {
		writing.Go(func() {
			tick := time.NewTicker(streamEvery)
			defer tick.Stop()
			var took []time.Duration
			for n := range w.pieces {
				<-tick.C
				d, err := w.piece(owner, i, n)
				if err != nil {
					errs[i] = err
					return
				}
				took = append(took, d)
			}
			mu.Lock()
			defer mu.Unlock()
			times = append(times, took...)
		})
	}
	writing.Wait()
	return times, errors.Join(errs...)
}

// piece writes one. What comes too fast by the clock of Redis waits as long as it is told.
func (w *written) piece(owner chat.Caller, i, n int) (time.Duration, error) {
	offset, text := int64(n*len(streamPiece(0))), streamPiece(n)
	for {
		began := time.Now()
		_, err := w.service.Write(w.ctx, owner, streamGroup(i), w.ids[i], stream.Draft{Offset: &offset, Append: &text})
		var e *chat.Error
		if !errors.As(err, &e) || e.Code != chat.CodeRateLimited {
			return time.Since(began), err
		}
		w.refused.Add(1)
		if err := pause(w.ctx, e.RetryAfter); err != nil {
			return 0, err
		}
	}
}

// follow has a reader take what there is until all messages are whole, and returns how many frames of streams that took. A piece that
// does not follow what the reader has is an error.
func (w *written) follow(f *live.Follower) (frames int, err error) {
	ctx, cancel := context.WithTimeout(w.ctx, 10*time.Minute)
	defer cancel()
	texts := map[string]string{}
	for whole := 0; whole < len(w.ids); {
		e, err := f.Next(ctx)
		if err != nil {
			return frames, fmt.Errorf("%d of %d messages are whole: %w", whole, len(w.ids), err)
		}
		s := e.Stream
		if s == nil {
			continue
		}
		frames++
		key := fmt.Sprint(s.Group, " ", s.ID)
		before := texts[key]
		switch {
		case s.Offset < 0:
			texts[key] = s.Text
		case int(s.Offset) != len(before):
			return frames, fmt.Errorf("%d bytes stand of %s, and a piece begins at %d", len(before), key, s.Offset)
		default:
			texts[key] += s.Text
		}
		if !strings.HasPrefix(w.text, texts[key]) {
			return frames, fmt.Errorf("%s reads %q", key, texts[key])
		}
		if texts[key] == w.text && before != w.text {
			whole++
		}
	}
	return frames, nil
}
