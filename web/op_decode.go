package web

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/wire"
)

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
	case "put_user":
		return h.decodeUser(o, raw)
	}
	return chat.Invalid("op: want send, direct, create_group, update_group, add_member, remove_member, set_role or put_user")
}

func (h batchHandlers) decodeSend(o *op, raw json.RawMessage, key string) error {
	var body struct {
		inGroup
		wire.MessageDraft
	}
	if err := wire.DecodePart(raw, &body); err != nil {
		return err
	}
	draft := &body.MessageDraft
	if draft.ClientID == "" {
		draft.ClientID = key
	}
	o.in("sendMessage", body.Group)
	if draft.DeliverAt == nil && draft.Quorum == nil {
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
	if err := wire.DecodePart(raw, &body); err != nil {
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
	if err := wire.DecodePart(raw, &body); err != nil {
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
	if err := wire.DecodePart(raw, &body); err != nil {
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
	if err := wire.DecodePart(raw, &body); err != nil {
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
	if err := wire.DecodePart(raw, &body); err != nil {
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

func (h batchHandlers) decodeUser(o *op, raw json.RawMessage) error {
	var body struct {
		opHead
		api.UserChange
	}
	if err := wire.DecodePart(raw, &body); err != nil {
		return err
	}
	o.route, o.user, o.line = "putUsers", body.User, "u:"+body.User
	o.do = func(ctx context.Context) (answering, error) {
		done, err := h.putUser(ctx, body.UserChange)
		if err != nil {
			return nil, err
		}
		return func(w http.ResponseWriter) error {
			return writeBuffered(w, http.StatusOK, 0, func(buf *bytes.Buffer) { wire.JSON(buf, "", done) })
		}, nil
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
