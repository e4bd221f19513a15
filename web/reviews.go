package web

import (
	"bytes"
	"context"
	"net/http"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/reviews"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/wire"
)

type reviewHandlers struct{ reviews *reviews.Service }

// ListReviews serves GET /v1/reviews.
func (h reviewHandlers) ListReviews(ctx context.Context, r api.ListReviewsRequestObject) (api.ListReviewsResponseObject, error) {
	list, err := h.reviews.List(ctx, callerOf(ctx), deref(r.Params.Group), limitOf(r.Params.Limit), deref(r.Params.Cursor))
	return api.ListReviews200JSONResponse{Reviews: orEmpty(list.Items), Next: next(list.Next)}, err
}

// DecideReview serves POST /v1/reviews/{review}.
func (h reviewHandlers) DecideReview(ctx context.Context, r api.DecideReviewRequestObject) (api.DecideReviewResponseObject, error) {
	decided, err := h.reviews.Decide(ctx, callerOf(ctx), r.Review, r.Body.Action, deref(r.Body.Reason))
	return api.DecideReview200JSONResponse(decided), err
}

// writeInReview answers a send that waits for a moderator.
func writeInReview(w http.ResponseWriter, r *chat.InReview) error {
	return writeBuffered(w, http.StatusAccepted, 0, func(buf *bytes.Buffer) { wire.JSON(buf, "", r) })
}
