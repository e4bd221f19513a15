package web

import (
	"bytes"
	"context"
	"net/http"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/archive/tokens"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/wire"
)

type searchHandlers struct{ searcher *archive.Searcher }

// Search serves GET /v1/search.
func (h searchHandlers) Search(ctx context.Context, r api.SearchRequestObject) (api.SearchResponseObject, error) {
	p := r.Params
	want := archive.Search{Text: p.Q, Group: deref(p.Group), From: deref(p.From), Kind: chat.Kind(deref(p.Kind)), Sort: deref(p.Sort),
		Limit: limitOf(p.Limit), Cursor: deref(p.Cursor)}
	var err error
	if want.Since, err = wire.Instant("since", p.Since); err != nil {
		return nil, err
	}
	if want.Until, err = wire.Instant("until", p.Until); err != nil {
		return nil, err
	}
	callOf(ctx).leaveTurn() // it waits for the archive
	found, err := h.searcher.Search(ctx, callerOf(ctx), want)
	return &searchAnswer{found}, err
}

// hitBytes is what most hits take in an answer beside the message and the text of the snippet.
const hitBytes = 200

// searchAnswer is a page of hits, with the messages as they are stored.
type searchAnswer struct {
	archive.Results
}

func (a *searchAnswer) VisitSearchResponse(w http.ResponseWriter) error {
	size := answerBytes
	for _, h := range a.Hits {
		size += len(h.JSON) + len(h.Snippet.Text) + hitBytes
	}
	return writeBuffered(w, http.StatusOK, size, func(buf *bytes.Buffer) {
		buf.WriteString(`{"hits":[`)
		for i, h := range a.Hits {
			if i > 0 {
				buf.WriteByte(',')
			}
			buf.WriteString(`{"message":`)
			buf.Write(h.JSON)
			wire.JSON(buf, `,"snippet":`, struct {
				Text  string         `json:"text"`
				Marks []tokens.Range `json:"marks"`
			}{h.Snippet.Text, orEmpty(h.Snippet.Marks)})
			buf.WriteByte('}')
		}
		buf.WriteByte(']')
		wire.JSON(buf, `,"next":`, next(a.Next))
		if !a.IncompleteBefore.IsZero() {
			wire.JSON(buf, `,"incomplete_before":`, chat.Time{Time: a.IncompleteBefore})
		}
		buf.WriteByte('}')
		*a = searchAnswer{}
	})
}
