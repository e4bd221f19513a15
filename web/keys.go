package web

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/keys"
	"github.com/chatd/chatd/web/api"
)

type keyHandlers struct {
	core *chat.Service
	keys *keys.Service
}

// makerOf is the caller as the maker of keys.
func makerOf(ctx context.Context) keys.Maker {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return keys.Maker{}
	}
	return keys.Maker{User: c.by.User, Key: c.key}
}

// CreateKey serves POST /v1/keys.
func (h keyHandlers) CreateKey(ctx context.Context, r api.CreateKeyRequestObject) (api.CreateKeyResponseObject, error) {
	draft, err := keyDraft(r.Body)
	if err != nil {
		return nil, err
	}
	return keyedSecret(ctx, h.core, "createKey", r.Params.IdempotencyKey, r.Body, http.StatusCreated, func(retry string) (any, any, error) {
		v, err := h.keys.Create(ctx, makerOf(ctx), draft, retry)
		return withoutKey(v, err)
	})
}

// withoutKey divides what is kept of an answer from the credential in it.
func withoutKey(v keys.View, err error) (made, secret any, _ error) {
	once := struct {
		Key string `json:"key,omitempty"`
	}{v.Key}
	v.Key = ""
	return v, once, err
}

func keyDraft(b *api.KeyDraft) (d keys.Draft, err error) {
	d = keys.Draft{Name: b.Name, Scopes: b.Scopes, Rate: b.Rate, Groups: deref(b.Groups), From: deref(b.From)}
	if b.As != nil {
		d.As = &keys.As{}
		if err := json.Unmarshal(b.As, d.As); err != nil {
			return d, err
		}
	}
	if b.ExpiresAt != nil {
		at, ok := chat.ParseTime(*b.ExpiresAt)
		if !ok {
			return d, chat.Invalid("expires_at: want a time as in RFC 3339")
		}
		end := chat.TimeMs(at.UnixMilli())
		d.ExpiresAt = &end
	}
	return d, nil
}

// ListKeys serves GET /v1/keys.
func (h keyHandlers) ListKeys(ctx context.Context, r api.ListKeysRequestObject) (api.ListKeysResponseObject, error) {
	list, err := h.keys.List(ctx, makerOf(ctx), limitOf(r.Params.Limit), deref(r.Params.Cursor))
	return api.ListKeys200JSONResponse{Keys: orEmpty(list.Items), Next: next(list.Next)}, err
}

// GetKey serves GET /v1/keys/{key}.
func (h keyHandlers) GetKey(ctx context.Context, r api.GetKeyRequestObject) (api.GetKeyResponseObject, error) {
	v, err := h.keys.Get(ctx, makerOf(ctx), r.Key)
	return api.GetKey200JSONResponse(v), err
}

// UpdateKey serves PATCH /v1/keys/{key}.
func (h keyHandlers) UpdateKey(ctx context.Context, r api.UpdateKeyRequestObject) (api.UpdateKeyResponseObject, error) {
	if string(r.Body.Name) == "null" {
		return nil, chat.Invalid("name: must not be null")
	}
	patch, err := json.Marshal(r.Body)
	if err != nil {
		return nil, err
	}
	v, err := h.keys.Change(ctx, makerOf(ctx), r.Key, patch)
	return api.UpdateKey200JSONResponse(v), err
}

// DeleteKey serves DELETE /v1/keys/{key}.
func (h keyHandlers) DeleteKey(ctx context.Context, r api.DeleteKeyRequestObject) (api.DeleteKeyResponseObject, error) {
	return api.DeleteKey204Response{}, h.keys.Delete(ctx, makerOf(ctx), r.Key)
}

// RotateKey serves POST /v1/keys/{key}/rotate.
func (h keyHandlers) RotateKey(ctx context.Context, r api.RotateKeyRequestObject) (api.RotateKeyResponseObject, error) {
	overlap := keys.OverlapDefault
	if r.Body != nil && r.Body.OverlapS != nil {
		seconds := *r.Body.OverlapS
		if seconds > int64(keys.OverlapMax/time.Second) {
			seconds = int64(keys.OverlapMax/time.Second) + 1
		}
		overlap = time.Duration(seconds) * time.Second
	}
	asked := []any{r.Key, overlap}
	return keyedSecret(ctx, h.core, "rotateKey", r.Params.IdempotencyKey, asked, http.StatusOK, func(string) (any, any, error) {
		v, err := h.keys.Rotate(ctx, makerOf(ctx), r.Key, overlap)
		return withoutKey(v, err)
	})
}
