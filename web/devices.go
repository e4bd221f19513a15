package web

import (
	"context"
	"encoding/json"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/wire"
)

type deviceHandlers struct{ notifications *notify.Service }

// ListDevices serves GET /v1/devices.
func (h deviceHandlers) ListDevices(ctx context.Context, _ api.ListDevicesRequestObject) (api.ListDevicesResponseObject, error) {
	devices, err := h.notifications.Devices(ctx, callerOf(ctx))
	return api.ListDevices200JSONResponse{Devices: orEmpty(devices)}, err
}

// PutDevice serves PUT /v1/devices/{device}.
func (h deviceHandlers) PutDevice(ctx context.Context, r api.PutDeviceRequestObject) (api.PutDeviceResponseObject, error) {
	b := r.Body
	if at := b.ExpirationTime; len(at) > 0 && json.Unmarshal(at, new(*float64)) != nil {
		return nil, chat.Invalid("expirationTime: want a number or null")
	}
	draft := notify.DeviceDraft{Kind: b.Kind, Endpoint: deref(b.Endpoint), URL: deref(b.Url), Encoding: deref(b.ContentEncoding)}
	if b.Keys != nil {
		draft.P256dh, draft.Auth = b.Keys.P256dh, b.Keys.Auth
	}
	device, created, err := h.notifications.PutDevice(ctx, callerOf(ctx), r.Device, draft)
	if created {
		return api.PutDevice201JSONResponse(device), err
	}
	return api.PutDevice200JSONResponse(device), err
}

// GetDevice serves GET /v1/devices/{device}.
func (h deviceHandlers) GetDevice(ctx context.Context, r api.GetDeviceRequestObject) (api.GetDeviceResponseObject, error) {
	device, err := h.notifications.Device(ctx, callerOf(ctx), r.Device)
	return api.GetDevice200JSONResponse(device), err
}

// DeleteDevice serves DELETE /v1/devices/{device}.
func (h deviceHandlers) DeleteDevice(ctx context.Context, r api.DeleteDeviceRequestObject) (api.DeleteDeviceResponseObject, error) {
	return api.DeleteDevice204Response{}, h.notifications.DropDevice(ctx, callerOf(ctx), r.Device)
}

// PutNotify serves PUT /v1/groups/{group}/notify.
func (h deviceHandlers) PutNotify(ctx context.Context, r api.PutNotifyRequestObject) (api.PutNotifyResponseObject, error) {
	set := notify.Setting{Level: r.Body.Level}
	until, err := wire.Instant("until", r.Body.Until)
	if err != nil {
		return nil, err
	}
	if until != nil {
		at := chat.TimeMs(until.UnixMilli())
		set.Until = &at
	}
	set, err = h.notifications.SetLevel(ctx, callerOf(ctx), r.Group, set)
	return api.PutNotify200JSONResponse(set), err
}

// GetNotify serves GET /v1/groups/{group}/notify.
func (h deviceHandlers) GetNotify(ctx context.Context, r api.GetNotifyRequestObject) (api.GetNotifyResponseObject, error) {
	set, err := h.notifications.Level(ctx, callerOf(ctx), r.Group)
	return api.GetNotify200JSONResponse(set), err
}

// GetPushKey serves GET /v1/push/key.
func (h deviceHandlers) GetPushKey(ctx context.Context, _ api.GetPushKeyRequestObject) (api.GetPushKeyResponseObject, error) {
	key, err := h.notifications.PushKey(ctx)
	return api.GetPushKey200JSONResponse{Key: key}, err
}
