package previews

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/cache"
)

func message(entry string) chat.Message { return chat.Message{JSON: []byte(entry)} }

func TestLinks(t *testing.T) {
	for entry, want := range map[string][]string{
		`{"id":1,"body":"see https://a.example/x, and (https://b.example/y). bye"}`:          {"https://a.example/x", "https://b.example/y"},
		`{"body":"https://a.example/x_(y)"}`:                                                 {"https://a.example/x_(y)"},
		`{"body":"[x](http://a.example/?q=1\u0026r=2)\nhttps://a.example/茶。"}`:               {"http://a.example/?q=1&r=2", "https://a.example/茶"},
		`{"body":"https://a.example https://a.example"}`:                                     {"https://a.example"},
		`{"body":"https://a.example/1 https://a.example/2 https://a.example/3 https://a/4"}`: {"https://a.example/1", "https://a.example/2", "https://a.example/3"},
		`{"stream":"open","body":"https://a.exam"}`:                                          nil,
		`{"data":{"url":"https://a.example"}}`:                                               nil,
		`{"body":"https:// ftp://a.example"}`:                                                nil,
		`{"kind":"delete"}`:                                                                  nil,
		`{"body":"\u003chttps://a.example/1\u003e https://a.example/2"}`:                     {"https://a.example/2"},
		`{"body":"https://a.example/1\u3000and https://a.example/2\u00a0too"}`:               {"https://a.example/1", "https://a.example/2"},
		`{"body":"\u003ca href=https://a.example/\u003e"}`:                                   {"https://a.example/"},
	} {
		if got := Links([]chat.Message{message(entry)}); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", entry, got, want)
		}
	}
	var many []chat.Message
	for i := range 100 {
		many = append(many, message(fmt.Sprintf(`{"body":"https://a.example/%d"}`, i)))
	}
	if got := Links(many); len(got) != linksPage {
		t.Errorf("got %d links", len(got))
	}
}

// TestHostileLinks: however a text is made, its links are found in a time that grows with its length only.
func TestHostileLinks(t *testing.T) {
	text := "https://a.example/x" + strings.Repeat(")", 1<<16) + strings.Repeat("(", 1<<14)
	for name, text := range map[string]string{"closed": text[:1<<16], "open": text, "in turn": "https://a.example/x" + strings.Repeat(").", 1<<15)} {
		if got := linksIn(text); len(got) > 1 || len(got) == 1 && got[0] != "https://a.example/x" {
			t.Errorf("%s: got %d links", name, len(got))
		}
	}
}

// TestOneFetch: links to parts of one page are one fetch, what fails is not tried again, and what a dying node had begun is.
func TestOneFetch(t *testing.T) {
	st := &kept{of: map[string]Stored{}}
	asked := map[string]int{}
	s := New(st, Options{NowMs: func() int64 { return 1 }, Log: slog.New(slog.DiscardHandler), Close: func() {},
		Fetch: func(ctx context.Context, link string) (Preview, error) {
			asked[link]++
			if strings.HasSuffix(link, "/dead") {
				return Preview{}, errors.New("not found")
			}
			return Preview{Title: "T"}, ctx.Err()
		}})
	read := []chat.Message{message(`{"body":"https://a.example/#1 https://a.example/#2 https://a.example/dead"}`)}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, ctx := range []context.Context{ended, t.Context()} {
		_ = s.Field(t.Context(), read)
		for len(s.waiting) > 0 {
			s.fetch(ctx, <-s.waiting)
		}
		s.known = cache.New[string, Stored](heldMax) // as another node
		for link, is := range st.of {
			if is.EndsMs <= 1+claims.Milliseconds() {
				delete(st.of, link) // a minute later
			}
		}
	}
	if got, want := string(s.Field(t.Context(), read)), `{"https://a.example/#1":{"title":"T"},"https://a.example/#2":{"title":"T"}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if len(s.waiting) != 0 || len(asked) != 2 || asked["https://a.example/"] != 2 || asked["https://a.example/dead"] != 2 {
		t.Errorf("got %v, and %d wait", asked, len(s.waiting))
	}
}

// kept is a store of previews.
type kept struct{ of map[string]Stored }

func (k *kept) ReadPreviews(_ context.Context, links []string) (found []Stored, _ error) {
	for _, link := range links {
		found = append(found, k.of[link])
	}
	return found, nil
}

func (k *kept) ClaimPreview(_ context.Context, link string, lasts time.Duration) (bool, error) {
	if _, taken := k.of[link]; taken {
		return false, nil
	}
	k.of[link] = Stored{EndsMs: 1 + lasts.Milliseconds()}
	return true, nil
}

func (k *kept) PutPreview(_ context.Context, link, text string, lasts time.Duration) error {
	k.of[link] = Stored{EndsMs: 1 + lasts.Milliseconds(), Text: text}
	return nil
}

// TestMeter: what one node fetches in a minute is bounded, and what it fetches from one host more so.
func TestMeter(t *testing.T) {
	var m meter
	hosts, all := 0, 0
	for i := range 1000 {
		if m.allows(fmt.Sprintf("https://%s/%d", []string{"one.example", "One.EXAMPLE.", "one.example:443"}[i%3], i), 0) {
			hosts++
		}
	}
	for i := range 1000 {
		if m.allows(fmt.Sprintf("https://host%d.example/", i), 59_999) {
			all++
		}
	}
	if hosts != minuteHost || all != minuteMax-minuteHost || !m.allows("https://one.example/", 60_000) || m.allows("https://[", 60_000) {
		t.Errorf("got %d of a host, %d of others", hosts, all)
	}
}

func TestOffCostsNothing(t *testing.T) {
	var off *Service
	if got := off.Field(t.Context(), []chat.Message{message(`{"body":"https://a.example"}`)}); got != nil {
		t.Errorf("got %q", got)
	}
}
