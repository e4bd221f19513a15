package web

import (
	"context"

	"github.com/chatd/chatd/chat/buttons"
	"github.com/chatd/chatd/web/api"
)

type buttonHandlers struct{ buttons *buttons.Service }

// PressAction serves POST /v1/groups/{group}/messages/{id}/actions.
func (h buttonHandlers) PressAction(ctx context.Context, r api.PressActionRequestObject) (api.PressActionResponseObject, error) {
	return api.PressAction202Response{}, h.buttons.Press(ctx, callerOf(ctx), r.Group, r.Id, r.Body.Id, r.Body.Value)
}
