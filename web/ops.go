package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strconv"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/batch"
	parallel "github.com/chatd/chatd/internal/each"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/problem"
	"github.com/chatd/chatd/web/wire"
)

const batchPath = "/v1/batch"

// opsMax is how many writes a batch may have: as many as some calls name users.
const opsMax = 1000

// batchHandlers make many writes with one call, each as the single call does.
type batchHandlers struct {
	*Server
	inboxHandlers
	groupHandlers
	memberHandlers
	messageHandlers
	userHandlers
	core   *chat.Service
	sender *batch.Service
	byID   map[string]*route
}

func newBatchHandlers(h handlers, of Services, s *Server) batchHandlers {
	b := batchHandlers{Server: s, inboxHandlers: h.inboxHandlers, groupHandlers: h.groupHandlers, memberHandlers: h.memberHandlers, messageHandlers: h.messageHandlers, userHandlers: h.userHandlers,
		core: of.Chat, sender: of.Batches, byID: map[string]*route{}}
	for _, r := range s.routes {
		b.byID[r.id] = r
	}
	return b
}

// opsTogether is how many ops are prepared together, and how many sends to several groups share a round trip.
const opsTogether = 100

// op is one write of a batch. What it has besides its head is in one of the shapes that decode knows.
type op struct {
	index  int
	route  string // the operation that it stands for
	group  string
	user   string
	as     *string
	line   string
	send   *wire.MessageDraft // of a send now
	do     func(ctx context.Context) (answering, error)
	result json.RawMessage
}

// line is what runs one after the other: the ops on one group, or on the inbox of one user.
type line struct{ ops []*op }

// opLines divides the ops that are not refused yet into lines, in the order in which these begin.
func opLines(ops []op) (order []*line) {
	lines := map[string]*line{}
	for i := range ops {
		o := &ops[i]
		if o.result != nil {
			continue
		}
		l := lines[o.line]
		if l == nil {
			l = &line{}
			lines[o.line], order = l, append(order, l)
		}
		l.ops = append(l.ops, o)
	}
	return order
}

// takeFirst takes from lines the plain messages that they begin with, those of a line together. Parts of opsTogether share round trips,
// and while the store works on one, the next is prepared. Lines whose messages hooks are asked about stay: none waits for the hooks of
// another.
func takeFirst(lines []*line, asks func(group string) bool) (parts [][]*op) {
	var part []*op
	for i, l := range lines {
		for len(l.ops) > 0 && l.ops[0].send != nil && !asks(l.ops[0].group) && batch.Plain(l.ops[0].send.Message()) {
			part, l.ops = append(part, l.ops[0]), l.ops[1:]
		}
		if len(part) >= opsTogether || i == len(lines)-1 {
			parts, part = append(parts, part), nil
		}
	}
	return parts
}

// answering writes the answer of a single call.
type answering func(w http.ResponseWriter) error

// opHead is what every op has.
type opHead struct {
	Op string  `json:"op"`
	As *string `json:"as,omitempty"`
}

type inGroup struct {
	opHead
	Group string `json:"group"`
}

type inGroupOfUser struct {
	inGroup
	User string `json:"user"`
}

// Batch serves POST /v1/batch.
func (h batchHandlers) Batch(ctx context.Context, r api.BatchRequestObject) (api.BatchResponseObject, error) {
	raw := r.Body.Ops
	if len(raw) > opsMax {
		return nil, chat.Errorf(chat.CodeOutOfRange, "ops: at most %d, not %d", opsMax, len(raw))
	}
	reused, err := h.reused(ctx, r.Params.IdempotencyKey, raw)
	if err != nil {
		return nil, err
	}
	ops := make([]op, len(raw))
	for i := range ops {
		ops[i].index = i
	}
	err = parallel.Of(ctx, slices.Collect(slices.Chunk(ops, opsTogether)), func(ctx context.Context, part []op) error {
		for i := range part {
			o := &part[i]
			var err error = chat.ErrKeyReused
			if !reused[o.index] {
				err = h.decode(o, raw[o.index], retryKey(r.Params.IdempotencyKey, o.index))
			}
			if err != nil {
				o.result = h.failed(ctx, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	order := opLines(ops)
	callers := newOpCallers(callOf(ctx), h.byID)
	ctx = chat.WithRelease(ctx, callOf(ctx).release)
	err = parallel.Of(ctx, takeFirst(order, h.core.Asks), func(ctx context.Context, sends []*op) error {
		h.sendAll(ctx, callers, sends)
		return context.Cause(ctx)
	})
	if err == nil {
		err = parallel.Of(ctx, order, func(ctx context.Context, l *line) error {
			h.run(ctx, callers, l.ops)
			return context.Cause(ctx)
		})
	}
	if err != nil {
		return nil, err
	}
	results := make([]json.RawMessage, len(ops))
	for i := range ops {
		results[i] = ops[i].result
	}
	return batchAnswer{results}, nil
}

// reused finds the ops that differ from those at their places when the batch came first. What a batch asks for is kept as retry
// keys are, before any of it is done.
func (h batchHandlers) reused(ctx context.Context, key *string, raw []json.RawMessage) ([]bool, error) {
	reused := make([]bool, len(raw))
	if key == nil {
		return reused, nil
	}
	const each = 8
	sums := make([]byte, 0, each*len(raw))
	var compact bytes.Buffer
	for _, text := range raw {
		compact.Reset()
		if json.Compact(&compact, text) != nil {
			compact.Write(text)
		}
		sum := sha256.Sum256(compact.Bytes())
		sums = append(sums, sum[:each]...)
	}
	first, replayed, err := h.core.Once(ctx, callerOf(ctx), *key, "batch", func() (chat.Answer, error) {
		return chat.Answer{Status: http.StatusOK, Body: []byte(`"` + base64.StdEncoding.EncodeToString(sums) + `"`)}, nil
	})
	if err != nil || !replayed {
		return reused, err
	}
	before, err := base64.StdEncoding.DecodeString(string(bytes.Trim(first.Body, `"`)))
	if err != nil {
		return nil, err
	}
	for i := range reused {
		at := each * i
		reused[i] = at+each <= len(before) && !bytes.Equal(before[at:at+each], sums[at:at+each])
	}
	return reused, nil
}

// retryKey is that of an op that has none. Keys have 64 characters at most, so that of a long one is its hash.
func retryKey(key *string, index int) string {
	if key == nil {
		return ""
	}
	suffix := "#" + strconv.Itoa(index)
	if len(*key)+len(suffix) > 64 {
		return chat.Hash([]byte(*key)) + suffix
	}
	return *key + suffix
}

// run does the ops of a line one after the other; messages to a group that follow each other go together. What has not begun when the
// caller is gone is not begun.
func (h batchHandlers) run(ctx context.Context, callers *opCallers, line []*op) {
	for len(line) > 0 && ctx.Err() == nil {
		n := 0
		for n < len(line) && line[n].send != nil {
			n++
		}
		if n > 0 {
			h.sendAll(ctx, callers, line[:n])
			line = line[n:]
			continue
		}
		h.one(ctx, callers, line[0])
		line = line[1:]
	}
}

func (h batchHandlers) one(ctx context.Context, callers *opCallers, o *op) {
	one, err := callers.admit(ctx, o)
	if err != nil {
		o.result = h.failed(ctx, err)
		return
	}
	ctx = context.WithValue(chat.WithMeter(ctx, &one.meter), callKey{}, one)
	defer one.settle()
	answer, err := o.do(ctx)
	if err != nil {
		o.result = h.failed(ctx, h.byID[o.route].scoped(err, one.by))
		return
	}
	o.result = resultOf(answer)
}

// sendAll sends messages, those to one group in their order.
func (h batchHandlers) sendAll(ctx context.Context, callers *opCallers, ops []*op) {
	var admitted []*op
	var list []batch.Message
	for _, o := range ops {
		one, err := callers.admit(ctx, o)
		if err != nil {
			o.result = h.failed(ctx, err)
			continue
		}
		admitted, list = append(admitted, o), append(list, batch.Message{By: one.by, Group: o.group, Content: o.send.Message()})
	}
	for i, out := range h.sender.SendAll(ctx, list, h.durability) {
		if out.Err != nil {
			admitted[i].result = h.failed(ctx, out.Err)
			continue
		}
		if h.durability == "" {
			out.Sent.Durability = ""
		}
		h.messageHandlers.sent.Add(1)
		admitted[i].result = resultOf(sentAnswer{out.Sent}.VisitSendMessageResponse)
	}
}

// resultOf is the result of an op that was done: the status, and the fields of the answer.
func resultOf(answer answering) json.RawMessage {
	w := &opWriter{header: http.Header{}}
	if err := answer(w); err != nil || w.status == 0 {
		return json.RawMessage(`{"status":500,"code":"internal","detail":"the op was done, but its answer could not be written"}`)
	}
	out := strconv.AppendInt([]byte(`{"status":`), int64(w.status), 10)
	if body := bytes.TrimSpace(w.body); len(body) > 2 {
		return append(append(out, ','), body[1:]...)
	}
	return append(out, '}')
}

// failed is the result of an op that was refused, waits for a moderator, or failed.
func (h batchHandlers) failed(ctx context.Context, err error) json.RawMessage {
	if r, ok := chat.IsInReview(err); ok {
		return resultOf(func(w http.ResponseWriter) error { return writeInReview(w, r) })
	}
	e, status := translate(err)
	h.metrics.errors.WithLabelValues(string(e.Code)).Inc()
	if status >= http.StatusInternalServerError && ctx.Err() == nil {
		h.log.LogAttrs(ctx, slog.LevelError, "op of a batch failed", slog.String("code", string(e.Code)), slog.Any("error", err))
	}
	w := &opWriter{header: http.Header{}}
	problem.Write(w, status, e, "")
	body := bytes.TrimSpace(w.body)
	if e.RetryAfter > 0 {
		body = append(strconv.AppendInt(append(body[:len(body)-1], `,"retry_after_ms":`...), max(1, e.RetryAfter.Milliseconds()), 10), '}')
	}
	return body
}

// opWriter takes the answer of one op.
type opWriter struct {
	header http.Header
	status int
	body   []byte
}

func (w *opWriter) Header() http.Header { return w.header }

func (w *opWriter) WriteHeader(status int) { w.status = status }

func (w *opWriter) Write(b []byte) (int, error) {
	w.body = append(w.body, b...)
	return len(b), nil
}

// batchAnswer is the answer to a batch: results that are written already.
type batchAnswer struct{ results []json.RawMessage }

func (a batchAnswer) VisitBatchResponse(w http.ResponseWriter) error {
	size := 16
	for _, r := range a.results {
		size += len(r) + 1
	}
	return writeBuffered(w, http.StatusOK, size, func(buf *bytes.Buffer) {
		buf.WriteString(`{"results":[`)
		for i, r := range a.results {
			if i > 0 {
				buf.WriteByte(',')
			}
			buf.Write(r)
		}
		buf.WriteString("]}")
	})
}
