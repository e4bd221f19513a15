package deliver

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"slices"

	webpush "github.com/SherClockHolmes/webpush-go"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/notify"
	"github.com/chatd/chatd/chat/webhook"
	"github.com/chatd/chatd/internal/egress"
)

// subscriber is the contact for push services (RFC 8292, 2.1): a mail address or a page, which is all that they ask
// for. It names the software rather than its operator.
const subscriber = "https://github.com/chatd/chatd"

// webPushBytesMax is what fits into one record of 4,096 bytes, which is all that a push service must accept (RFC 8030,
// 7.2), with the header of RFC 8188 (86), the cipher's tag and the byte that ends the text. The library pads with
// zeros, so that the length reveals nothing.
const webPushBytesMax = 4096 - 86 - 16 - 1

var errNoService = errors.New("not the address of a known push service")

// WebPush sends a message to a browser's push service, encrypted so that only the browser can read it.
func (s *Sender) WebPush(ctx context.Context, p notify.WebPush) webhook.Outcome {
	if len(p.Body) > webPushBytesMax {
		return webhook.Outcome{Verdict: webhook.Failed, Cause: "the message is too long for web push"}
	}
	var outcome webhook.Outcome
	tried := false
	_, err := webpush.SendNotificationWithContext(ctx, //nolint:bodyclose // the Sender has read and closed it
		slices.Clip(p.Body), // the library appends to it
		&webpush.Subscription{Endpoint: p.Device.Address, Keys: webpush.Keys{P256dh: p.Device.P256dh, Auth: p.Device.Auth}},
		&webpush.Options{
			HTTPClient: clientFunc(func(r *http.Request) (*http.Response, error) {
				tried, outcome = true, s.Do(r, p.Owner)
				return nil, nil
			}),
			Subscriber: subscriber, VAPIDPublicKey: p.Key.Public, VAPIDPrivateKey: p.Key.Private,
			TTL: int(p.TTL.Seconds()), Topic: p.Topic, Urgency: urgencyOf(p.Urgency),
		})
	if err != nil || !tried {
		return webhook.Outcome{Verdict: webhook.Failed, Cause: "the message could not be encrypted"}
	}
	return outcome
}

// clientFunc receives the finished request from the library, so that it is sent like every other.
type clientFunc func(*http.Request) (*http.Response, error)

func (f clientFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }

func urgencyOf(p chat.Priority) webpush.Urgency {
	switch p {
	case chat.PriorityHigh:
		return webpush.UrgencyHigh
	case chat.PriorityLow:
		return webpush.UrgencyLow
	case chat.PriorityNormal:
	}
	return webpush.UrgencyNormal
}

// CheckEndpoint refuses anything but the address of a push service: the known services of browsers, those that the operator named,
// and allowed networks. Plain http only ever reaches allowed networks, where push services are not.
func (s *Sender) CheckEndpoint(address string) error {
	u, err := egress.CheckURL(address, s.allow)
	if err != nil {
		return err
	}
	switch service := s.isPushService(u.Hostname()); {
	case service && u.Scheme == "http":
		return errors.New("the URL of a push service must begin with https://")
	case service, u.Scheme == "http":
		return nil
	}
	if a, err := netip.ParseAddr(u.Hostname()); err == nil {
		for _, network := range s.allow {
			if network.Contains(a.Unmap()) {
				return nil
			}
		}
	}
	return errNoService
}
