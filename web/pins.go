package web

import (
	"bytes"
	"context"
	"net/http"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/pins"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/wire"
)

type pinHandlers struct{ pins *pins.Service }

// PutPin serves PUT /v1/groups/{group}/pins/{id}.
func (h pinHandlers) PutPin(ctx context.Context, r api.PutPinRequestObject) (api.PutPinResponseObject, error) {
	return api.PutPin204Response{}, h.pins.Pin(ctx, callerOf(ctx), r.Group, r.Id)
}

// DeletePin serves DELETE /v1/groups/{group}/pins/{id}.
func (h pinHandlers) DeletePin(ctx context.Context, r api.DeletePinRequestObject) (api.DeletePinResponseObject, error) {
	return api.DeletePin204Response{}, h.pins.Unpin(ctx, callerOf(ctx), r.Group, r.Id)
}

// ListPins serves GET /v1/groups/{group}/pins.
func (h pinHandlers) ListPins(ctx context.Context, r api.ListPinsRequestObject) (api.ListPinsResponseObject, error) {
	list, err := h.pins.List(ctx, callerOf(ctx), r.Group, limitOf(r.Params.Limit), deref(r.Params.Cursor))
	if err != nil {
		return nil, err
	}
	return &pinsAnswer{list}, nil
}

// pinsAnswer is the answer to GET pins.
type pinsAnswer struct{ list chat.List[pins.Pin] }

func (a *pinsAnswer) VisitListPinsResponse(w http.ResponseWriter) error {
	size := answerBytes
	for i := range a.list.Items {
		size += len(a.list.Items[i].Message.JSON) + pinBytes
	}
	return writeBuffered(w, http.StatusOK, size, func(buf *bytes.Buffer) {
		buf.WriteString(`{"pins":[`)
		for i, p := range a.list.Items {
			if i > 0 {
				buf.WriteByte(',')
			}
			buf.WriteString(`{"message":`)
			writeView(buf, &p.Message)
			wire.Plain(buf, `,"by":`, p.By)
			wire.JSON(buf, `,"at":`, p.At)
			buf.WriteByte('}')
		}
		buf.WriteByte(']')
		wire.JSON(buf, `,"next":`, next(a.list.Next))
		buf.WriteByte('}')
		*a = pinsAnswer{}
	})
}

// pinBytes is about how many bytes a pin has beside its message.
const pinBytes = 256
