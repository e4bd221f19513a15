package chat

import (
	"cmp"
	"context"
	"crypto/ecdh"
	"encoding/base64"
	"slices"
	"strings"
)

// DeviceKind is how a device is told.
type DeviceKind string

// Web push to a browser, or a call of an address.
const (
	DeviceWebPush DeviceKind = "webpush"
	DeviceWebhook DeviceKind = "webhook"
)

// Device is where a user is told while away, with all that telling takes.
type Device struct {
	ID        string     `json:"-"`
	Kind      DeviceKind `json:"kind"`
	Address   string     `json:"address"`          // the endpoint of web push, or the URL of a webhook: as secret as a key
	P256dh    string     `json:"p256dh,omitempty"` // of web push: the browser's public key, base64url
	Auth      string     `json:"auth,omitempty"`   // of web push: the secret shared with the browser, base64url
	Secret    string     `json:"-"`                // of a webhook: what signs; the first one stays
	CreatedAt Time       `json:"-"`
}

// DeviceView is a device as its user sees it: without its keys.
type DeviceView struct {
	ID        string     `json:"id"`
	Kind      DeviceKind `json:"kind"`
	Endpoint  string     `json:"endpoint,omitempty"`
	URL       string     `json:"url,omitempty"`
	Secret    string     `json:"secret,omitempty"` // of a webhook, in the answer that made it
	CreatedAt Time       `json:"created_at"`
}

// DeviceDraft is what a client registers: endpoint and keys for web push, URL for a webhook.
type DeviceDraft struct {
	Kind         DeviceKind
	Endpoint     string
	P256dh, Auth string
	URL          string
}

// Bounds of what a browser hands over (RFC 8291, 3.1 and 3.2).
const (
	addressBytesMax = 2048
	authBytes       = 16
)

// DeviceStore keeps the devices of users.
type DeviceStore interface {
	// PutDevice registers a device, or changes its address. One of the same id and kind keeps its time and its secret;
	// one of another kind is a new one. ErrOutOfRange: the user has too many.
	PutDevice(ctx context.Context, user string, d Device) (kept Device, created bool, err error)
	// Devices reads the devices of each user, in order; one round trip.
	Devices(ctx context.Context, users []string) ([][]Device, error)
	// DropDevice removes a device; where is is given, only while it is still the same. A repeat does no harm.
	DropDevice(ctx context.Context, user, id string, is *Device) error
	// Reach reads one device, and whether its user is away: without a live session on any node. An absent device has no
	// Kind.
	Reach(ctx context.Context, user, id string) (d Device, away bool, err error)
	// Away picks those of users who have a device: away are those without a live session on any node, live the others.
	Away(ctx context.Context, users []string) (away, live []string, err error)
}

// PutDevice registers a device of the caller, or changes it. A webhook's secret is in the answer that created it, and in
// no other.
func (s *Service) PutDevice(ctx context.Context, by Caller, id string, draft DeviceDraft) (v DeviceView, created bool, err error) {
	d, err := s.newDevice(by, id, draft)
	if err != nil {
		return DeviceView{}, false, err
	}
	// Before the device is there: whoever has one is told of the next message.
	if err := s.stores.WantNotify(ctx, s.opt.NotifyDelay, false); err != nil {
		return DeviceView{}, false, AsError(err)
	}
	kept, created, err := s.stores.PutDevice(ctx, by.User, d)
	if err != nil {
		return DeviceView{}, false, AsError(err)
	}
	v = kept.view()
	if created {
		v.Secret = kept.Secret
	}
	return v, created, nil
}

// newDevice checks a draft and gives it what the server adds.
func (s *Service) newDevice(by Caller, id string, draft DeviceDraft) (Device, error) {
	if err := checkDevice(by, id); err != nil {
		return Device{}, err
	}
	d := Device{ID: id, Kind: draft.Kind, CreatedAt: TimeMs(s.opt.Now())}
	switch draft.Kind {
	case DeviceWebPush:
		if draft.URL != "" {
			return Device{}, Invalid("url: not with webpush")
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
		if draft.Endpoint != "" || draft.P256dh != "" || draft.Auth != "" {
			return Device{}, Invalid("endpoint, keys: not with webhook")
		}
		d.Address, d.Secret = draft.URL, newSecret()
	default:
		return Device{}, Invalid("kind: %s or %s", DeviceWebPush, DeviceWebhook)
	}
	field := "endpoint"
	if d.Kind == DeviceWebhook {
		field = "url"
	}
	if d.Address == "" || len(d.Address) > addressBytesMax {
		return Device{}, Invalid("%s: 1 to %d bytes", field, addressBytesMax)
	}
	if s.opt.Pusher != nil {
		if err := s.opt.Pusher.CheckAddress(d.Kind, d.Address); err != nil {
			return Device{}, Invalid("%s: %s", field, err.Error())
		}
	}
	return d, nil
}

// checkPushKey reads a public key of P-256 as browsers give it, and returns it in one spelling.
func checkPushKey(text string) (string, error) {
	key, err := decodePush(text)
	if err == nil {
		_, err = ecdh.P256().NewPublicKey(key)
	}
	if err != nil {
		return "", Invalid("keys.p256dh: want an uncompressed point of P-256 in base64url")
	}
	return base64.RawURLEncoding.EncodeToString(key), nil
}

func checkPushAuth(text string) (string, error) {
	secret, err := decodePush(text)
	if err != nil || len(secret) != authBytes {
		return "", Invalid("keys.auth: want %d bytes in base64url", authBytes)
	}
	return base64.RawURLEncoding.EncodeToString(secret), nil
}

// decodePush reads base64 in either alphabet, padded or not: libraries of browsers differ.
func decodePush(text string) ([]byte, error) {
	text = strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(text, "="))
	return base64.RawURLEncoding.Strict().DecodeString(text)
}

// Devices lists the caller's devices by id.
func (s *Service) Devices(ctx context.Context, by Caller) ([]DeviceView, error) {
	if err := CheckCaller(by); err != nil {
		return nil, err
	}
	all, err := s.stores.Devices(ctx, []string{by.User})
	if err != nil {
		return nil, AsError(err)
	}
	slices.SortFunc(all[0], func(a, b Device) int { return cmp.Compare(a.ID, b.ID) })
	views := make([]DeviceView, len(all[0]))
	for i, d := range all[0] {
		views[i] = d.view()
	}
	return views, nil
}

// Device gives one of the caller's devices.
func (s *Service) Device(ctx context.Context, by Caller, id string) (DeviceView, error) {
	if err := checkDevice(by, id); err != nil {
		return DeviceView{}, err
	}
	d, _, err := s.stores.Reach(ctx, by.User, id)
	if err != nil {
		return DeviceView{}, AsError(err)
	}
	if d.Kind == "" {
		return DeviceView{}, Errorf(CodeNotFound, "no such device")
	}
	return d.view(), nil
}

// DropDevice removes one of the caller's devices; repeating it is harmless.
func (s *Service) DropDevice(ctx context.Context, by Caller, id string) error {
	if err := checkDevice(by, id); err != nil {
		return err
	}
	return AsError(s.stores.DropDevice(ctx, by.User, id, nil))
}

func checkDevice(by Caller, id string) error {
	if !ValidID(id) {
		return Invalid("device: not a valid id")
	}
	return CheckCaller(by)
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
