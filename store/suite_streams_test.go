package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/stream"
)

// opens begins a stream of user in a group.
func (w *fixture) opens(group, user, body string) int64 {
	w.Helper()
	done, err := w.Append(w.ctx, opening(group, user, body))
	w.ok(err)
	return done.ID
}

func opening(group, user, body string) chat.Append {
	e := chat.Entry{Group: group, From: user, Content: chat.Content{Kind: chat.Text, Stream: chat.StreamOpen, Body: &body}}
	return chat.NewAppend(e, 5000)
}

// writes writes on at a stream.
func (w *fixture) writes(group, user string, id, offset int64, text string) (stream.State, error) {
	return w.WritePiece(w.ctx, stream.Piece{By: chat.Caller{User: user}, Group: group, ID: id, Offset: offset, Text: text})
}

// record changes fields of the record of a stream.
func (w *fixture) record(group string, id int64, fields map[int]int64) {
	w.Helper()
	key, field := w.groupKey(group, "streams"), fmt.Sprint(id)
	f := strings.Fields(w.Client().HGet(w.ctx, key, field).Val())
	for i, n := range fields {
		f[i] = fmt.Sprint(n)
	}
	w.poke("HSET", key, field, strings.Join(f, " "))
}

// unhurried lets the next piece come at once.
func (w *fixture) unhurried(group string, id int64) {
	w.Helper()
	w.record(group, id, map[int]int64{8: 0, 9: 0})
}

// silent is as if the last piece came a minute before.
func (w *fixture) silent(group string, id int64) {
	w.Helper()
	w.record(group, id, map[int]int64{7: w.now() - chat.StreamSilence.Milliseconds()})
}

// endsStream ends a stream as it stands.
func (w *fixture) endsStream(group string, id int64, cut bool) (int64, time.Duration, error) {
	w.Helper()
	epoch, open, err := w.OpenStreams(w.ctx, group, id)
	w.ok(err)
	if len(open) == 0 {
		open = []chat.OpenStream{{ID: id, Author: "bot", Mark: "mark"}}
	}
	return w.EndStream(w.ctx, w.endOf(group, epoch, open[0], cut))
}

func (w *fixture) endOf(group, epoch string, o chat.OpenStream, cut bool) stream.End {
	w.Helper()
	was := chat.Entry{ID: o.ID, Group: group, From: o.Author, Content: chat.Content{Kind: chat.Text, Stream: chat.StreamOpen, Body: &o.Text}, SentAt: chat.TimeMs(5000)}
	state := chat.StreamDone
	if cut {
		state = chat.StreamCut
	}
	entry := chat.Entry{Group: group, From: o.Author, Content: chat.Content{Kind: chat.Edit, Stream: state, Target: o.ID, Body: &o.Text}, SentAt: chat.TimeMs(6000)}
	e := stream.End{Group: group, Epoch: epoch, Of: o, SentAtMs: 6000, Was: chat.Encode(was), JSON: chat.Encode(was.Ended(entry)), Cut: cut, Longest: time.Hour}
	e.Mark, e.Rest = chat.NewEntry(entry)
	return e
}

// body is what a message reads as.
func (w *fixture) body(group string, id int64) (string, chat.Stream) {
	w.Helper()
	found, err := w.Entries(w.ctx, group, []int64{id})
	w.ok(err)
	if len(found) == 0 {
		return "", ""
	}
	var e chat.Entry
	w.ok(json.Unmarshal(found[0].JSON, &e))
	if e.Body == nil {
		return "", e.Stream
	}
	return *e.Body, e.Stream
}

// noStreams checks that a group has nothing of streams at all.
func (w *fixture) noStreams(group string) {
	w.Helper()
	left, err := w.Client().Exists(w.ctx, w.groupKey(group, "streams"), w.groupKey(group, "streamed")).Result()
	w.ok(err)
	w.equal([]any{left, w.Client().HExists(w.ctx, w.groupKey(group, "meta"), "streams").Val()}, []any{int64(0), false})
}

func lengthOf(err error) int64 {
	var e *chat.Error
	if errors.As(err, &e) && e.Code == chat.CodeConflict && e.Length != nil {
		return *e.Length
	}
	return -1
}

var streamTests = map[string]func(*fixture){
	"pieces": func(w *fixture) {
		w.group("g", []string{"bot", "ann"})
		id := w.opens("g", "bot", "Hé")
		last := w.info("g", "ann").Last
		w.equal(w.info("g", "ann").Unread, int64(1))
		state, err := w.writes("g", "bot", id, 3, "llo")
		w.ok(err)
		w.equal(state, stream.State{Length: 6})
		for _, again := range []struct {
			offset int64
			text   string
		}{{3, "llo"}, {0, "Héllo"}, {1, "é"}, {6, ""}, {2 + 1, ""}} {
			state, err := w.writes("g", "bot", id, again.offset, again.text)
			w.ok(err)
			w.equal(state.Length, int64(6))
		}
		for _, wrong := range []struct {
			offset int64
			text   string
		}{{3, "lla"}, {7, "x"}, {5, "o!"}} {
			_, err := w.writes("g", "bot", id, wrong.offset, wrong.text)
			w.equal(lengthOf(err), int64(6))
		}
		_, err = w.writes("g", "bot", id, 2, "x")
		w.fails(err, stream.ErrSplit)
		body, is := w.body("g", id)
		w.equal([]any{body, is}, []any{"Héllo", chat.StreamOpen})
		w.equal(w.info("g", "ann").Last, last) // no entry, and no cursor

		state, err = w.WritePiece(w.ctx, stream.Piece{By: chat.Caller{User: "bot"}, Group: "g", ID: id, Text: "\"new\"\n", Replaces: true})
		w.ok(err)
		w.equal(state.Length, int64(6))
		body, _ = w.body("g", id)
		w.equal(body, "\"new\"\n")
		page := w.pull("ann", chat.Pull{Group: "g", From: id, Limit: 1})
		if !json.Valid(page.Messages[0].JSON) || !strings.Contains(string(page.Messages[0].JSON), `"stream":true,"body":"\"new\"\n"`) {
			w.Errorf("a page has %s", page.Messages[0].JSON)
		}
		// Long texts are in many chunks.
		text := body
		for n := range 30 {
			w.unhurried("g", id)
			piece := strings.Repeat(fmt.Sprint(n%10), 300*(n%5))
			_, err := w.writes("g", "bot", id, int64(len(text)), piece)
			w.ok(err)
			text += piece
		}
		body, _ = w.body("g", id)
		w.equal(body, text)
	},
	"who may write a piece": func(w *fixture) {
		w.group("g", []string{"bot", "ann"})
		id, other := w.opens("g", "bot", ""), w.say("g", "bot", "plain")
		_, err := w.writes("g", "ann", id, 0, "x")
		w.fails(err, stream.ErrAuthorsOnly)
		_, err = w.writes("g", "eve", id, 0, "x")
		w.fails(err, chat.ErrNotFound)
		_, err = w.writes("g", "bot", other, 0, "x")
		w.fails(err, stream.ErrEnded)
		_, err = w.writes("none", "bot", id, 0, "x")
		w.fails(err, chat.ErrNotFound)
	},
	"bounds": func(w *fixture) {
		w.group("g", []string{"bot", "ann"})
		id := w.opens("g", "bot", "")
		text := strings.Repeat("x", chat.StreamBytesMax-1)
		_, err := w.writes("g", "bot", id, 0, text)
		w.ok(err)
		w.unhurried("g", id)
		_, err = w.writes("g", "bot", id, int64(len(text)), "yz")
		w.equal(chat.CodeOf(err), chat.CodeTooLarge)
		_, err = w.writes("g", "bot", id, int64(len(text)), "y")
		w.ok(err)
		// Twenty pieces, however fast.
		fast := w.opens("g", "bot", "")
		w.record("g", fast, map[int]int64{8: w.now() + 1_000_000, 9: chat.StreamPiecesMax})
		_, err = w.writes("g", "bot", fast, 0, "x")
		w.equal(chat.CodeOf(err), chat.CodeRateLimited)
		for range chat.StreamsOpenMax - 2 {
			w.opens("g", "bot", "")
		}
		_, err = w.Append(w.ctx, opening("g", "ann", "one too many"))
		w.equal(chat.CodeOf(err), chat.CodeQuotaFull)
		_, err = w.Append(w.ctx, opening("g", "eve", "outside"))
		w.fails(err, chat.ErrNotFound)
		_, _, err = w.endsStream("g", fast, false)
		w.ok(err)
		w.opens("g", "ann", "")
	},
	"the end": func(w *fixture) {
		w.group("g", []string{"bot", "ann"})
		id := w.opens("g", "bot", "a")
		w.equal(len(w.takeTasks(stream.TaskCut)), 1)
		_, err := w.writes("g", "bot", id, 1, "b")
		w.ok(err)
		epoch, open, err := w.OpenStreams(w.ctx, "g", id)
		w.ok(err)
		w.unhurried("g", id)
		_, err = w.writes("g", "bot", id, 2, "c")
		w.ok(err)
		_, _, err = w.EndStream(w.ctx, w.endOf("g", epoch, open[0], false))
		w.fails(err, chat.ErrConflict)
		end, _, err := w.endsStream("g", id, false)
		w.ok(err)
		w.equal(end, id+1)
		w.equal(w.info("g", "ann").Last, end)
		w.equal(w.info("g", "ann").Unread, int64(1))
		body, is := w.body("g", id)
		w.equal([]any{body, is}, []any{"abc", chat.Stream("")})
		again, _, err := w.endsStream("g", id, false)
		w.ok(err)
		w.equal(again, int64(0))
		_, err = w.writes("g", "bot", id, 3, "d")
		w.fails(err, stream.ErrEnded)
		w.noStreams("g")
	},
	"silence": func(w *fixture) {
		w.group("g", []string{"bot", "ann"})
		id := w.opens("g", "bot", "a")
		end, wait, err := w.endsStream("g", id, true)
		w.ok(err)
		if end != 0 || wait <= 0 || wait > chat.StreamSilence {
			w.Errorf("too early: got %d, wait %s", end, wait)
		}
		w.silent("g", id)
		end, _, err = w.endsStream("g", id, true)
		w.ok(err)
		w.equal(end, id+1)
		body, is := w.body("g", id)
		w.equal([]any{body, is}, []any{"a", chat.StreamCut})
		w.noStreams("g")
	},
	"what ends it otherwise": func(w *fixture) {
		w.group("g", []string{"bot", "ann"})
		id := w.opens("g", "bot", "secret")
		_, err := w.writes("g", "bot", id, 6, "text")
		w.ok(err)
		w.deleteOwn("g", "bot", id)
		w.noStreams("g")
		_, err = w.writes("g", "bot", id, 10, "x")
		w.fails(err, stream.ErrEnded)

		w.opens("g", "bot", "more")
		w.ok(w.DeleteGroup(w.ctx, chat.Caller{User: "root", Admin: true}, "g", nil))
		w.noStreams("g")
	},
	"cancel": func(w *fixture) {
		w.group("g", []string{"bot", "ann"})
		id := w.opens("g", "bot", "")
		w.fails(w.CancelStream(w.ctx, chat.Caller{User: "eve"}, "g", id), chat.ErrNotFound)
		w.fails(w.CancelStream(w.ctx, chat.Caller{User: "ann"}, "g", id+7), stream.ErrEnded)
		w.ok(w.CancelStream(w.ctx, chat.Caller{User: "ann"}, "g", id))
		state, err := w.writes("g", "bot", id, 0, "x")
		w.ok(err)
		w.equal(state, stream.State{Length: 1, Cancelled: true})
	},
	"when the log has trimmed it": func(w *fixture) {
		w.group("g", []string{"bot", "ann"}, func(g *chat.NewGroup) { g.Keep = 0 })
		id := w.opens("g", "bot", "a")
		w.say("g", "bot", "plain")
		w.trims("g", "alice", "bot", "ann")
		if body, _ := w.body("g", id); body != "" {
			w.Fatalf("the log still has %q", body)
		}
		_, err := w.writes("g", "bot", id, 1, "b")
		w.ok(err)
		end, _, err := w.endsStream("g", id, false)
		w.ok(err)
		body, is := w.body("g", end)
		w.equal([]any{body, is}, []any{"ab", chat.StreamDone})
		w.noStreams("g")
		// An erasure, which finds what the log has, takes the rest.
		w.opens("g", "bot", "secret")
		w.say("g", "bot", "plain")
		w.trims("g", "alice", "bot", "ann")
		w.ok(w.DropTraces(w.ctx, "g", "bot"))
		w.noStreams("g")
	},
}

// deleteOwn deletes a message as its author does who read it a moment ago.
func (w *fixture) deleteOwn(group, user string, id int64) {
	w.Helper()
	was := w.entry(group, id)
	e := decode(w, was)
	deletion := chat.Entry{Group: group, From: user, Content: chat.Content{Kind: chat.Delete, Target: id}, SentAt: chat.TimeMs(7000)}
	left := was
	left.JSON = chat.Encode(e.Deleted(deletion))
	_, err := w.Revise(w.ctx, chat.NewAppend(deletion, 7000), []chat.Change{{Old: was, New: left}}, false)
	w.ok(err)
}
