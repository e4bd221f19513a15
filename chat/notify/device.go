package notify

import (
	"cmp"
	"context"
	"crypto/ecdh"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/webhook"
)

// DeviceKind is how a device receives notifications.
type DeviceKind string

// Web push to a browser, or an HTTP call.
const (
	DeviceWebPush DeviceKind = "webpush"
	DeviceWebhook DeviceKind = "webhook"
)

// Device is where a user gets notified while offline, with everything a delivery needs.
type Device struct {
	ID        string     `json:"-"`
	Kind      DeviceKind `json:"kind"`
	Address   string     `json:"address"`          // the endpoint of web push, or the URL of a webhook: secret like a key
	P256dh    string     `json:"p256dh,omitempty"` // of web push: the browser's public key, base64url
	Auth      string     `json:"auth,omitempty"`   // of web push: the secret shared with the browser, base64url
	Secret    string     `json:"-"`                // of a webhook: signs its calls; later changes keep it
	CreatedAt chat.Time  `json:"-"`
}

// DeviceView is a device as its user sees it, without its keys.
type DeviceView struct {
	ID        string     `json:"id"`
	Kind      DeviceKind `json:"kind"`
	Endpoint  string     `json:"endpoint,omitempty"`
	URL       string     `json:"url,omitempty"`
	Secret    string     `json:"secret,omitempty"` // of a webhook, only in the answer that created it
	CreatedAt chat.Time  `json:"created_at"`
}

// DeviceDraft is what a client registers: endpoint and keys for web push, URL for a webhook.
type DeviceDraft struct {
	Kind         DeviceKind
	Endpoint     string
	P256dh, Auth string
	Encoding     string // of web push; empty: aes128gcm
	URL          string
}

// pushEncoding is how messages are encrypted (RFC 8291). Drafts had others, which no browser needs any more.
const pushEncoding = "aes128gcm"

// authBytes is the length of the secret that a browser provides (RFC 8291, 3.2).
const authBytes = 16

// PutDevice registers a device of the caller, or changes it. A webhook's secret appears only in the answer that created
// it.
func (s *Service) PutDevice(ctx context.Context, by chat.Caller, id string, draft DeviceDraft) (v DeviceView, created bool, err error) {
	d, err := s.newDevice(by, id, draft)
	if err != nil {
		return DeviceView{}, false, err
	}
	// Before the device is stored: its user must be notified of the very next message.
	if err := s.store.WantNotify(ctx, s.delay, false); err != nil {
		return DeviceView{}, false, chat.AsError(err)
	}
	kept, created, err := s.store.PutDevice(ctx, by.User, d)
	if err != nil {
		return DeviceView{}, false, chat.AsError(err)
	}
	v = kept.view()
	if created {
		v.Secret = kept.Secret
	}
	return v, created, nil
}

// newDevice checks a draft and adds what the server provides.
func (s *Service) newDevice(by chat.Caller, id string, draft DeviceDraft) (Device, error) {
	if err := cmp.Or(checkDevice(by, id), chat.CheckWord("kind", &draft.Kind, DeviceWebPush, DeviceWebhook)); err != nil {
		return Device{}, err
	}
	field := "endpoint"
	d := Device{ID: id, Kind: draft.Kind, CreatedAt: chat.TimeMs(s.opt.Now())}
	switch draft.Kind {
	case DeviceWebPush:
		if draft.URL != "" {
			return Device{}, chat.Invalid("url: not with webpush")
		}
		if draft.Encoding != "" && draft.Encoding != pushEncoding {
			return Device{}, chat.Invalid("contentEncoding: want %s", pushEncoding)
		}
		d.Address = draft.Endpoint
		var err error
		if d.P256dh, err = checkPushKey(draft.P256dh); err != nil {
			return Device{}, err
		}
		if d.Auth, err = checkPushAuth(draft.Auth); err != nil {
			return Device{}, err
		}
	case DeviceWebhook:
		if draft.Endpoint != "" || draft.P256dh != "" || draft.Auth != "" || draft.Encoding != "" {
			return Device{}, chat.Invalid("endpoint, keys, contentEncoding: not with webhook")
		}
		field, d.Address, d.Secret = "url", draft.URL, webhook.NewSecret()
	}
	if d.Address == "" || len(d.Address) > webhook.AddressBytesMax {
		return Device{}, chat.Invalid("%s: 1 to %d bytes", field, webhook.AddressBytesMax)
	}
	if err := s.checkAddress(d); err != nil {
		return Device{}, chat.Invalid("%s: %s", field, err.Error())
	}
	return d, nil
}

// checkAddress refuses an address that a device of this kind cannot have.
func (s *Service) checkAddress(d Device) error {
	switch {
	case s.pusher == nil:
		return nil
	case d.Kind == DeviceWebhook:
		return s.pusher.CheckURL(d.Address)
	}
	return s.pusher.CheckEndpoint(d.Address)
}

// checkPushKey parses a P-256 public key as browsers send it, and returns it in canonical form.
func checkPushKey(text string) (string, error) {
	key, err := decodePush(text)
	if err == nil {
		_, err = ecdh.P256().NewPublicKey(key)
	}
	if err != nil {
		return "", chat.Invalid("keys.p256dh: want an uncompressed point of P-256 in base64url")
	}
	return base64.RawURLEncoding.EncodeToString(key), nil
}

func checkPushAuth(text string) (string, error) {
	secret, err := decodePush(text)
	if err != nil || len(secret) != authBytes {
		return "", chat.Invalid("keys.auth: want %d bytes in base64url", authBytes)
	}
	return base64.RawURLEncoding.EncodeToString(secret), nil
}

// decodePush decodes base64 in either alphabet, padded or not: browser libraries differ.
func decodePush(text string) ([]byte, error) {
	text = strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(text, "="))
	return base64.RawURLEncoding.Strict().DecodeString(text)
}

// Devices lists the caller's devices by id.
func (s *Service) Devices(ctx context.Context, by chat.Caller) ([]DeviceView, error) {
	if err := chat.CheckCaller(by); err != nil {
		return nil, err
	}
	all, err := s.store.Devices(ctx, []string{by.User})
	if err != nil {
		return nil, chat.AsError(err)
	}
	slices.SortFunc(all[0], func(a, b Device) int { return cmp.Compare(a.ID, b.ID) })
	views := make([]DeviceView, len(all[0]))
	for i, d := range all[0] {
		views[i] = d.view()
	}
	return views, nil
}

// Device returns one of the caller's devices.
func (s *Service) Device(ctx context.Context, by chat.Caller, id string) (DeviceView, error) {
	if err := checkDevice(by, id); err != nil {
		return DeviceView{}, err
	}
	d, _, err := s.store.Reach(ctx, by.User, id)
	if err != nil {
		return DeviceView{}, chat.AsError(err)
	}
	if d.Kind == "" {
		return DeviceView{}, chat.Errorf(chat.CodeNotFound, "no such device")
	}
	return d.view(), nil
}

// DropDevice removes one of the caller's devices; repeating it is harmless.
func (s *Service) DropDevice(ctx context.Context, by chat.Caller, id string) error {
	if err := checkDevice(by, id); err != nil {
		return err
	}
	return chat.AsError(s.store.DropDevice(ctx, by.User, id, nil))
}

func checkDevice(by chat.Caller, id string) error {
	return cmp.Or(chat.CheckCaller(by), chat.CheckID("device", id))
}

func (d Device) view() DeviceView {
	v := DeviceView{ID: d.ID, Kind: d.Kind, CreatedAt: d.CreatedAt}
	if d.Kind == DeviceWebPush {
		v.Endpoint = d.Address
	} else {
		v.URL = d.Address
	}
	return v
}
