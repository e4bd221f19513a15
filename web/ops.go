package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
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
	core   *chat.Service
	sender *batch.Service
	byID   map[string]*route
}

func newBatchHandlers(h handlers, of Services, s *Server) batchHandlers {
	b := batchHandlers{Server: s, inboxHandlers: h.inboxHandlers, groupHandlers: h.groupHandlers, memberHandlers: h.memberHandlers, messageHandlers: h.messageHandlers,
		core: of.Chat, sender: of.Batches, byID: map[string]*route{}}
	for _, r := range s.routes {
		b.byID[r.id] = r
	}
	return b
}

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
	ops := make([]*op, len(raw))
	lines := map[string][]*op{} // those of a line in their order
	var order [][]*op
	for i, text := range raw {
		o := &op{index: i}
		ops[i] = o
		var err error = chat.ErrKeyReused
		if !reused[i] {
			err = h.decode(o, text, retryKey(r.Params.IdempotencyKey, i))
		}
		if err != nil {
			o.result = h.failed(ctx, err)
			continue
		}
		lines[o.line] = append(lines[o.line], o)
	}
	for _, line := range lines {
		order = append(order, line)
	}
	callers := newOpCallers(callOf(ctx), h.byID)
	err = parallel.Of(ctx, order, func(ctx context.Context, line []*op) error {
		h.run(ctx, callers, line)
		return context.Cause(ctx)
	})
	if err != nil {
		return nil, err
	}
	results := make([]json.RawMessage, len(ops))
	for i, o := range ops {
		results[i] = o.result
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

// run does the ops of a line one after the other; messages to a group that follow each other go together.
func (h batchHandlers) run(ctx context.Context, callers *opCallers, line []*op) {
	for len(line) > 0 {
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

// sendAll sends messages to one group.
func (h batchHandlers) sendAll(ctx context.Context, callers *opCallers, line []*op) {
	var admitted []*op
	var list []batch.Message
	for _, o := range line {
		one, err := callers.admit(ctx, o)
		if err != nil {
			o.result = h.failed(ctx, err)
			continue
		}
		admitted, list = append(admitted, o), append(list, batch.Message{By: one.by, Content: o.send.Message()})
	}
	for i, out := range h.sender.SendAll(ctx, line[0].group, list, h.durability) {
		if out.Err != nil {
			admitted[i].result = h.failed(ctx, out.Err)
			continue
		}
		if h.durability == "" {
			out.Sent.Durability = ""
		}
		h.messageHandlers.sent.Inc()
		admitted[i].result = resultOf(sentAnswer{out.Sent}.VisitSendMessageResponse)
	}
}

// decode reads an op, and finds out which call it stands for. key is its retry key if it has none of its own.
func (h batchHandlers) decode(o *op, raw json.RawMessage, key string) error {
	var head opHead
	if err := wire.Peek(raw, &head); err != nil {
		return err
	}
	o.as = head.As
	switch head.Op {
	case "send":
		return h.decodeSend(o, raw, key)
	case "direct":
		return h.decodeDirect(o, raw, key)
	case "create_group":
		return h.decodeCreate(o, raw, key)
	case "update_group":
		return h.decodeUpdate(o, raw)
	case "add_member", "set_role":
		return h.decodeMember(o, raw, head.Op == "set_role")
	case "remove_member":
		return h.decodeRemoval(o, raw)
	}
	return chat.Invalid("op: want send, direct, create_group, update_group, add_member, remove_member or set_role")
}

func (h batchHandlers) decodeSend(o *op, raw json.RawMessage, key string) error {
	var body struct {
		inGroup
		wire.MessageDraft
	}
	if err := wire.Decode(raw, &body); err != nil {
		return err
	}
	draft := &body.MessageDraft
	if draft.ClientID == "" {
		draft.ClientID = key
	}
	o.in("sendMessage", body.Group)
	if draft.DeliverAt == nil {
		o.send = draft
		return nil
	}
	o.do = func(ctx context.Context) (answering, error) {
		answer, err := h.SendMessage(ctx, api.SendMessageRequestObject{Group: body.Group, Body: draft})
		return answerOf(answer, err, api.SendMessageResponseObject.VisitSendMessageResponse)
	}
	return nil
}

func (h batchHandlers) decodeDirect(o *op, raw json.RawMessage, key string) error {
	var body struct {
		opHead
		User string `json:"user"`
		wire.DirectDraft
	}
	if err := wire.Decode(raw, &body); err != nil {
		return err
	}
	draft := &body.DirectDraft
	if draft.ClientID == "" {
		draft.ClientID = key
	}
	o.route, o.user, o.line = "sendDirect", body.User, "u:"+body.User
	o.do = func(ctx context.Context) (answering, error) {
		answer, err := h.SendDirect(ctx, api.SendDirectRequestObject{User: body.User, Body: draft})
		return answerOf(answer, err, api.SendDirectResponseObject.VisitSendDirectResponse)
	}
	return nil
}

func (h batchHandlers) decodeCreate(o *op, raw json.RawMessage, key string) error {
	var body struct {
		opHead
		Key *string `json:"idempotency_key,omitempty"`
		api.GroupDraft
	}
	if err := wire.Decode(raw, &body); err != nil {
		return err
	}
	if body.Key == nil && key != "" {
		body.Key = &key
	}
	o.in("createGroup", body.Id)
	o.group = ""
	if body.Id == "" {
		o.line = "new:" + strconv.Itoa(o.index)
	}
	o.do = func(ctx context.Context) (answering, error) {
		answer, err := h.CreateGroup(ctx, api.CreateGroupRequestObject{Params: api.CreateGroupParams{IdempotencyKey: body.Key}, Body: &body.GroupDraft})
		return answerOf(answer, err, api.CreateGroupResponseObject.VisitCreateGroupResponse)
	}
	return nil
}

func (h batchHandlers) decodeUpdate(o *op, raw json.RawMessage) error {
	var body struct {
		inGroup
		chat.GroupChange
	}
	if err := wire.Decode(raw, &body); err != nil {
		return err
	}
	o.in("updateGroup", body.Group)
	o.do = func(ctx context.Context) (answering, error) {
		answer, err := h.UpdateGroup(ctx, api.UpdateGroupRequestObject{Group: body.Group, Body: &body.GroupChange})
		return answerOf(answer, err, api.UpdateGroupResponseObject.VisitUpdateGroupResponse)
	}
	return nil
}

func (h batchHandlers) decodeMember(o *op, raw json.RawMessage, needsRole bool) error {
	var body struct {
		inGroupOfUser
		api.MemberDraft
	}
	if err := wire.Decode(raw, &body); err != nil {
		return err
	}
	if needsRole && body.Role == "" {
		return chat.Invalid("role: missing")
	}
	o.in("putMember", body.Group)
	o.user = body.User
	o.do = func(ctx context.Context) (answering, error) {
		answer, err := h.PutMember(ctx, api.PutMemberRequestObject{Group: body.Group, User: body.User, Body: &body.MemberDraft})
		return answerOf(answer, err, api.PutMemberResponseObject.VisitPutMemberResponse)
	}
	return nil
}

func (h batchHandlers) decodeRemoval(o *op, raw json.RawMessage) error {
	var body inGroupOfUser
	if err := wire.Decode(raw, &body); err != nil {
		return err
	}
	o.in("removeMember", body.Group)
	o.user = body.User
	o.do = func(ctx context.Context) (answering, error) {
		answer, err := h.RemoveMember(ctx, api.RemoveMemberRequestObject{Group: body.Group, User: body.User})
		return answerOf(answer, err, api.RemoveMemberResponseObject.VisitRemoveMemberResponse)
	}
	return nil
}

// in makes o an op on a group. Those on one group are one line.
func (o *op) in(route, group string) { o.route, o.group, o.line = route, group, "g:"+group }

// answerOf is how the answer of a handler is written.
func answerOf[A any](answer A, err error, visit func(A, http.ResponseWriter) error) (answering, error) {
	if err != nil {
		return nil, err
	}
	return func(w http.ResponseWriter) error { return visit(answer, w) }, nil
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

// failed is the result of an op that was refused, or failed.
func (h batchHandlers) failed(ctx context.Context, err error) json.RawMessage {
	e, status := translate(err)
	h.metrics.errors.WithLabelValues(string(e.Code)).Inc()
	if status >= http.StatusInternalServerError {
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
