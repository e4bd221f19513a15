// Package unfurl reads what a web page says of itself: its title and a few words, in its head. Pages are hostile: what is read is bounded
// in bytes and in time, and what is found is plain text of a bounded length.
package unfurl

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html/charset"

	"github.com/chatd/chatd/chat/previews"
	"github.com/chatd/chatd/internal/egress"
)

// Bounds of a fetch.
const (
	pageBytesMax = 256 << 10
	redirectsMax = 3
	within       = 5 * time.Second // with all redirects
)

var (
	errRedirects = errors.New("too many redirects")
	errStatus    = errors.New("the page did not answer 200")
	errType      = errors.New("the answer is not HTML")
	errNothing   = errors.New("the page has no title")
)

// Fetcher fetches pages.
type Fetcher struct {
	client *http.Client
	allow  []netip.Prefix
	agent  string
	within time.Duration
}

// New makes a Fetcher that also reaches the networks of allow, at any port and by plain http. agent is the User-Agent.
func New(allow []netip.Prefix, agent string) *Fetcher {
	return &Fetcher{client: egress.Client(allow, pageBytesMax), allow: allow, agent: agent, within: within}
}

// Close closes idle connections.
func (f *Fetcher) Close() { f.client.CloseIdleConnections() }

// Fetch reads what the page of a link says of itself.
func (f *Fetcher) Fetch(ctx context.Context, link string) (previews.Preview, error) {
	ctx, cancel := context.WithTimeout(ctx, f.within)
	defer cancel()
	for range redirectsMax + 1 {
		at, err := f.target(link)
		if err != nil {
			return previews.Preview{}, err
		}
		preview, next, err := f.step(ctx, at)
		if errors.Is(err, egress.ErrPlain) { // its name does not lead to the networks of allow
			at.Scheme, at.Host = "https", strings.TrimSuffix(at.Host, ":80")
			preview, next, err = f.step(ctx, at)
		}
		if err != nil || next == "" {
			return preview, err
		}
		link = next
	}
	return previews.Preview{}, errRedirects
}

// target is the address that a link means. Public addresses are reached by https only: many links of other days still lead there.
func (f *Fetcher) target(link string) (*url.URL, error) {
	u, err := url.Parse(link)
	if err != nil {
		return nil, errors.New("not a URL")
	}
	u.Fragment, u.RawFragment = "", ""
	if _, err := egress.CheckURL(u.String(), f.allow); u.Scheme == "http" && err != nil {
		u.Scheme = "https"
		u.Host = strings.TrimSuffix(u.Host, ":80")
	}
	at, err := egress.CheckURL(u.String(), f.allow)
	if err != nil {
		return nil, fmt.Errorf("the link: %w", err)
	}
	return at, nil
}

// step asks for one address: it answers with a page, or leads to the next.
func (f *Fetcher) step(ctx context.Context, at *url.URL) (p previews.Preview, next string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), http.NoBody)
	if err != nil {
		return p, "", errors.New("not a URL")
	}
	r.Header.Set("User-Agent", f.agent)
	r.Header.Set("Accept", "text/html")
	answer, err := f.client.Do(r)
	if err != nil {
		return p, "", reason(err)
	}
	defer func() { _ = answer.Body.Close() }()
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		to, err := at.Parse(answer.Header.Get("Location"))
		if err != nil {
			return p, "", errors.New("the redirect is not a URL")
		}
		return p, to.String(), nil
	default:
		return p, "", errStatus
	}
	contentType := answer.Header.Get("Content-Type")
	if kind, _, err := mime.ParseMediaType(contentType); err != nil || kind != "text/html" {
		return p, "", errType
	}
	page, err := io.ReadAll(answer.Body)
	if err != nil && !errors.Is(err, egress.ErrAnswerTooLarge) { // the head comes first
		return p, "", reason(err)
	}
	text, err := charset.NewReader(bytes.NewReader(page), contentType)
	if err != nil {
		return p, "", errNothing
	}
	p = read(text, at)
	if p.Title = cmp.Or(p.Title, p.Site); p.Title == "" {
		return p, "", errNothing
	}
	return p, "", nil
}

// reason is why a request failed, without its address.
func reason(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
