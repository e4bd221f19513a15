package notify

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/webhook"
)

// A notification that could not be delivered is retried after these pauses; then it becomes a dead letter. Messages
// that are still unread a day later are counted in the next notification.
var pushPauses = []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour}

const (
	pushTTL      = 24 * time.Hour // how long a push service keeps a notification for a browser that is off
	pushTimeout  = 30 * time.Second
	previewRunes = 200
)

// PushTask is one delivery: a notification to one device.
type PushTask struct {
	User     string        `json:"user"`
	Device   string        `json:"device"`
	Group    string        `json:"group"` // empty: the inbox
	Thread   int64         `json:"thread,omitempty"`
	Epoch    string        `json:"epoch"`
	Last     int64         `json:"last"`
	AtMs     int64         `json:"at_ms"`
	Count    int64         `json:"count"`
	Mentions int64         `json:"mentions"`
	Show     int64         `json:"show"`
	Priority chat.Priority `json:"priority"`
}

// Pusher reaches the devices of users.
type Pusher interface {
	webhook.Sender
	// CheckEndpoint refuses anything but the address of a push service. The error is for the user who wrote it.
	CheckEndpoint(address string) error
	// WebPush sends one message to a browser's push service.
	WebPush(ctx context.Context, p WebPush) webhook.Outcome
}

// WebPush is one attempt to send a message to a browser (RFC 8030), encrypted for it (RFC 8291).
type WebPush struct {
	Owner   string // see webhook.Call
	Device  Device
	Key     PushKey
	Body    []byte
	Topic   string // a newer message with the same topic replaces one that waits
	Urgency chat.Priority
	TTL     time.Duration
}

// PushKey is the key that identifies this server to push services (VAPID, RFC 8292): a P-256 key pair, each half in
// base64url. All nodes share one.
type PushKey struct {
	Private string // 32 bytes
	Public  string // the uncompressed point
}

// pushKey is the server's key, once it is known.
type pushKey struct {
	mu  sync.Mutex
	key PushKey
}

// PushKey returns the public half of the server's key, for the applicationServerKey of browsers.
func (s *Service) PushKey(ctx context.Context) (string, error) {
	key, err := s.ownPushKey(ctx)
	return key.Public, chat.AsError(err)
}

func (s *Service) ownPushKey(ctx context.Context) (PushKey, error) {
	s.key.mu.Lock()
	defer s.key.mu.Unlock()
	if s.key.key.Private != "" {
		return s.key.key, nil
	}
	made, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return PushKey{}, err
	}
	kept, err := s.store.PushKey(ctx, base64.RawURLEncoding.EncodeToString(made.Bytes()))
	if err != nil {
		return PushKey{}, err
	}
	secret, err := base64.RawURLEncoding.DecodeString(kept)
	if err != nil {
		return PushKey{}, fmt.Errorf("the push key in the store is not base64url")
	}
	private, err := ecdh.P256().NewPrivateKey(secret)
	if err != nil {
		return PushKey{}, fmt.Errorf("the push key in the store is not a P-256 key")
	}
	s.key.key = PushKey{Private: kept, Public: base64.RawURLEncoding.EncodeToString(private.PublicKey().Bytes())}
	return s.key.key, nil
}

// pushKind is the kind of push tasks. They call external servers, so they have their own queue, timeout and attempts.
func (s *Service) pushKind() chat.TaskKind {
	kind := chat.HandleRun(s.push)
	kind.Queue, kind.Timeout, kind.AttemptsMax = chat.QueueEgress, pushTimeout, len(pushPauses)+1
	return kind
}

// push notifies one device, if that is still needed: the device exists, its user is not disabled and has no live
// session, and the message is still unread.
func (s *Service) push(ctx context.Context, t PushTask, run chat.TaskRun) error {
	if !chat.ValidUserID(t.User) || !chat.ValidID(t.Device) || t.Epoch == "" || t.Group != "" && !chat.ValidGroupID(t.Group) {
		return chat.Invalid("a task names no valid device")
	}
	if s.pusher == nil {
		return chat.Errorf(chat.CodeUnavailable, "this node does not make deliveries")
	}
	if time.Since(run.Enqueued) > pushTTL {
		return nil // its endpoint was down so long that the notification is out of date
	}
	if s.disabled != nil && s.disabled(t.User) {
		return nil
	}
	d, away, err := s.store.Reach(ctx, t.User, t.Device)
	if err != nil || !away || d.Kind == "" {
		return err
	}
	if t.Group != "" {
		if wants, err := s.wantsStill(ctx, t); err != nil || !wants {
			return err
		}
	}
	var n notification
	var unread bool
	if t.Group == "" {
		n, unread, err = s.shownItem(ctx, t)
	} else {
		n, unread, err = s.shownMessage(ctx, t)
	}
	if err == nil && unread {
		n, unread, err = s.heard(ctx, t, n)
	}
	if err != nil || !unread {
		return err
	}
	if s.name != nil && n.Data.From != "" {
		n.Data.FromName = s.name(ctx, n.Data.From)
	}
	out, err := s.deliver(ctx, d, n, t, run)
	if err != nil {
		return err
	}
	return s.pushed(ctx, out, d, t, run)
}

// notification is the body that a device receives.
type notification struct {
	Type      string       `json:"type"`
	Timestamp chat.Time    `json:"timestamp"`
	Data      notifiedData `json:"data"`
}

type notifiedData struct {
	User     string `json:"user"`
	Group    string `json:"group"` // empty: the inbox
	Thread   int64  `json:"thread,omitempty"`
	Count    int64  `json:"count"`
	Mentions int64  `json:"mentions"`
	LastID   int64  `json:"last_id"`
	From     string `json:"from"`
	FromName string `json:"from_name,omitempty"`
	Preview  string `json:"preview"`
}

func (t PushTask) notification() notification {
	return notification{Type: "notification", Timestamp: chat.TimeMs(t.AtMs),
		Data: notifiedData{User: t.User, Group: t.Group, Thread: t.Thread, Count: t.Count, Mentions: t.Mentions, LastID: t.Last}}
}

// show adds the sender and the start of the text. Items that the server itself put into an inbox have no sender.
func (n *notification) show(from string, body *string) {
	if chat.ValidUserID(from) {
		n.Data.From = from
	}
	if body == nil {
		return
	}
	n.Data.Preview = *body
	if runes := []rune(*body); len(runes) > previewRunes {
		n.Data.Preview = string(runes[:previewRunes])
	}
}

// shownMessage reads the message to show as the user may see it now: edits apply, and a deleted message is not shown.
func (s *Service) shownMessage(ctx context.Context, t PushTask) (n notification, unread bool, err error) {
	pull := chat.Pull{Group: t.Group}
	if t.Show > 0 {
		pull.From, pull.Limit = t.Show, 1
	}
	pages, err := s.store.Pull(ctx, t.User, []chat.Pull{pull})
	if err != nil {
		return n, false, err
	}
	page := pages[0]
	unreadCount, read := page.Info.Unread, page.Info.Read
	if t.Thread > 0 {
		if unreadCount, read, err = s.thread(ctx, t); err != nil {
			return n, false, err
		}
	}
	if page.Info.Epoch != t.Epoch || page.Info.Role == "" || unreadCount == 0 || t.Show > 0 && read >= t.Show {
		return n, false, nil
	}
	n = t.notification()
	if t.Show > 0 && len(page.Messages) > 0 && page.Messages[0].ID == t.Show {
		var e chat.Entry
		if err := json.Unmarshal(page.Messages[0].JSON, &e); err != nil {
			return n, false, fmt.Errorf("message %d of a notification: %w", t.Show, err)
		}
		n.show(e.From, e.Body)
	}
	return n, true, nil
}

// thread reads how many replies of the thread of a notification its user has not read, none of one that they do not follow any
// longer, and up to where they have read it.
func (s *Service) thread(ctx context.Context, t PushTask) (unread, read int64, err error) {
	is, _, _, err := s.store.Thread(ctx, t.Group, t.User, t.Thread, 0, 0, 1)
	if errors.Is(err, chat.ErrNotFound) || errors.Is(err, chat.ErrForbidden) {
		return 0, 0, nil
	}
	return is.Unread, is.Read, err
}

// shownItem reads the inbox item to show, unless it is acked or gone.
func (s *Service) shownItem(ctx context.Context, t PushTask) (n notification, unread bool, err error) {
	batch, err := s.store.InboxPull(ctx, t.User, chat.Position{Set: true, ID: t.Show - 1}, 1)
	if err != nil || batch.Epoch != t.Epoch || batch.Acked >= t.Show || batch.From != t.Show || len(batch.Items) == 0 {
		return n, false, err
	}
	item, err := decodeItem(batch.Items[0].JSON)
	if err != nil {
		return n, false, err
	}
	n = t.notification()
	n.show(item.From, item.Body)
	return n, true, nil
}

// deliver makes one attempt.
func (s *Service) deliver(ctx context.Context, d Device, n notification, t PushTask, run chat.TaskRun) (webhook.Outcome, error) {
	body := chat.Encode(n)
	if d.Kind == DeviceWebhook {
		return s.pusher.Webhook(ctx, webhook.Call{Owner: "user " + t.User, URL: d.Address, ID: run.ID, Body: body, Secrets: []string{d.Secret}}), nil
	}
	key, err := s.ownPushKey(ctx)
	if err != nil {
		return webhook.Outcome{}, err
	}
	return s.pusher.WebPush(ctx, WebPush{Owner: "user " + t.User, Device: d, Key: key, Body: body, Topic: pushTopic(t), Urgency: t.Priority, TTL: pushTTL}), nil
}

// pushTopic names what a newer notification replaces: the one of the same group or thread, or of the inbox. At most 32 characters
// of base64url (RFC 8030, 5.4); a hash, because the push service does not need to know the group.
func pushTopic(t PushTask) string {
	if t.Thread > 0 {
		return chat.Hash([]byte(t.User), []byte(t.Group), []byte(strconv.FormatInt(t.Thread, 10)))
	}
	return chat.Hash([]byte(t.User), []byte(t.Group))
}

// pushed decides what happens to the task. A device that is gone is removed, if it is still the one that was tried.
func (s *Service) pushed(ctx context.Context, out webhook.Outcome, d Device, t PushTask, run chat.TaskRun) error {
	switch out.Verdict {
	case webhook.Delivered:
		return nil
	case webhook.Gone:
		s.opt.Log.InfoContext(ctx, "device removed: its endpoint is gone", "user", t.User, "device", t.Device, "status", out.Status)
		return s.store.DropDevice(ctx, t.User, t.Device, &d)
	case webhook.Busy:
		return chat.Postpone(out.After, nil)
	case webhook.Failed:
	}
	if ctx.Err() != nil {
		return ctx.Err() // the node stops, or the task was cancelled: not the endpoint's fault
	}
	return chat.Postpone(max(out.After, pushPause(run.Failed)), chat.Errorf(chat.CodeUnavailable, "%s", out.Cause))
}

// pushPause returns how long to wait after the given number of earlier failures, up to a tenth longer at random, so
// that deliveries that failed together do not retry together.
func pushPause(failed int) time.Duration {
	pause := pushPauses[min(failed, len(pushPauses)-1)]
	return pause + mathrand.N(pause/10)
}
