package previews

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/cache"
)

// Bounds of a node and of a store.
const (
	KeptMax = 10_000 // previews in a store: the ones that end first make room

	keeps      = 24 * time.Hour // also that there is no preview
	claims     = time.Minute    // longer than a fetch takes: after that a node died over it
	fetchers   = 4
	waitingMax = 256 // links; more are left to the next who asks
	minuteMax  = 120 // fetches of a node
	minuteHost = 20  // the same from one host
	heldMax    = 2000
	heldFor    = 2 * time.Second // that there is no preview yet: another node may have it by then
	readWithin = 500 * time.Millisecond
)

// Preview is what a link leads to, as its page says.
type Preview struct {
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Site        string `json:"site,omitempty"`
	Image       string `json:"image,omitempty"` // an https URL
}

// Stored is what a store has of a link.
type Stored struct {
	EndsMs int64  // by the clock of the store; 0: nobody has asked for it lately
	Text   string // JSON of a Preview; empty: it is being fetched, or could not be
}

// Store keeps previews.
type Store interface {
	// ReadPreviews reads what there is of links, in order.
	ReadPreviews(ctx context.Context, links []string) ([]Stored, error)
	// ClaimPreview takes a link of which there is nothing, for one fetch, and tells whether it did. It ends by itself.
	ClaimPreview(ctx context.Context, link string, lasts time.Duration) (bool, error)
	// PutPreview keeps the preview of a link. It ends by itself.
	PutPreview(ctx context.Context, link, text string, lasts time.Duration) error
}

// Options of a Service.
type Options struct {
	Fetch func(ctx context.Context, link string) (Preview, error)
	Close func()       // ends what Fetch left open
	NowMs func() int64 // by the clock of the store
	Log   *slog.Logger
}

// Service finds previews. It is safe for concurrent use. A nil one finds none.
type Service struct {
	store   Store
	opt     Options
	known   *cache.Cache[string, Stored]
	waiting chan string
	meter   meter
}

// New makes a Service. Its Run fetches.
func New(store Store, opt Options) *Service {
	return &Service{store: store, opt: opt, known: cache.New[string, Stored](heldMax), waiting: make(chan string, waitingMax)}
}

// Field is the JSON of the previews that go with messages, by link; nil: there are none. Links without one are fetched in the background.
func (s *Service) Field(ctx context.Context, messages []chat.Message) []byte {
	if s == nil {
		return nil
	}
	return s.Fields(ctx, messages)[0]
}

// Fields is Field for each of several lists, with one read for all.
func (s *Service) Fields(ctx context.Context, lists ...[]chat.Message) [][]byte {
	fields := make([][]byte, len(lists))
	if s == nil {
		return fields
	}
	in := make([][]string, len(lists))
	var all []string
	for i, messages := range lists {
		in[i] = Links(messages)
		if len(all)+len(in[i]) > linksPage {
			in[i] = nil
		}
		for _, link := range in[i] {
			all = append(all, addressOf(link))
		}
	}
	if len(all) == 0 {
		return fields
	}
	found := s.find(ctx, all)
	for i := range in {
		field := map[string]json.RawMessage{}
		for _, link := range in[i] {
			if text := found[addressOf(link)]; text != "" {
				field[link] = json.RawMessage(text)
			}
		}
		if len(field) > 0 {
			if text, err := json.Marshal(field); err == nil {
				fields[i] = text
			}
		}
	}
	return fields
}

// addressOf is what is fetched for a link: links to parts of one page share its preview.
func addressOf(link string) string {
	address, _, _ := strings.Cut(link, "#")
	return address
}

// find returns the previews of addresses, from the memory of the node and from the store, and has the others fetched.
func (s *Service) find(ctx context.Context, addresses []string) map[string]string {
	found, nowMs := map[string]string{}, s.opt.NowMs()
	var missing []string
	for _, link := range addresses {
		if held, ok := s.known.Get(link); ok && held.EndsMs > nowMs {
			found[link] = held.Text
		} else if !slices.Contains(missing, link) {
			missing = append(missing, link)
		}
	}
	if len(missing) == 0 {
		return found
	}
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	stored, err := s.store.ReadPreviews(ctx, missing)
	if err != nil {
		s.opt.Log.DebugContext(ctx, "previews cannot be read; answers go out without", "error", err)
		return found
	}
	for i, link := range missing {
		is := stored[i]
		switch {
		case is.EndsMs > nowMs && is.Text != "", is.EndsMs > nowMs+claims.Milliseconds():
			found[link] = is.Text // empty: it could not be fetched
			s.known.Put(link, is)
			continue
		case is.EndsMs <= nowMs:
			select {
			case s.waiting <- link:
			default: // whoever asks next
			}
		}
		s.known.Put(link, Stored{EndsMs: nowMs + heldFor.Milliseconds()})
	}
	return found
}

// Run fetches until ctx ends.
func (s *Service) Run(ctx context.Context) {
	if s == nil {
		return
	}
	defer s.opt.Close()
	var all sync.WaitGroup
	for range fetchers {
		all.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case link := <-s.waiting:
					s.fetch(ctx, link)
				}
			}
		})
	}
	all.Wait()
}

// fetch fetches a link unless any node has done so within a day, in vain too. No error is logged with its link, which people wrote.
func (s *Service) fetch(ctx context.Context, link string) {
	if !s.meter.allows(link, s.opt.NowMs()) {
		return
	}
	claimed, err := s.store.ClaimPreview(ctx, link, claims)
	if err != nil {
		s.opt.Log.DebugContext(ctx, "a link cannot be taken for its preview", "error", err)
	}
	if err != nil || !claimed {
		return
	}
	var text []byte
	preview, err := s.opt.Fetch(ctx, link)
	switch {
	case ctx.Err() != nil:
		return // the node ends: another one fetches it later
	case err != nil:
		s.opt.Log.DebugContext(ctx, "a link has no preview", "error", err)
	default:
		if text, err = json.Marshal(preview); err != nil {
			return
		}
	}
	if err := s.store.PutPreview(ctx, link, string(text), keeps); err != nil {
		s.opt.Log.DebugContext(ctx, "a preview cannot be kept", "error", err)
		return
	}
	s.known.Put(link, Stored{EndsMs: s.opt.NowMs() + keeps.Milliseconds(), Text: string(text)})
}

// meter bounds how much a node fetches, and from one host: nobody can aim it at one.
type meter struct {
	mu     sync.Mutex
	minute int64
	all    int
	hosts  map[string]int
}

func (m *meter) allows(link string, nowMs int64) bool {
	u, err := url.Parse(link)
	if err != nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if minute := nowMs / time.Minute.Milliseconds(); minute != m.minute || m.hosts == nil {
		m.minute, m.all, m.hosts = minute, 0, map[string]int{}
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".") // as DNS knows it
	if m.all >= minuteMax || m.hosts[host] >= minuteHost {
		return false
	}
	m.all++
	m.hosts[host]++
	return true
}
