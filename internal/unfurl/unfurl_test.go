package unfurl

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatd/chatd/chat/previews"
)

// here is what these tests may reach: one address of this host alone.
var here = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}

// pages is a server with pages, and what was asked of it.
func pages(t *testing.T, serve http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(serve)
	t.Cleanup(s.Close)
	return s.URL
}

func head(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprint(w, text)
	}
}

func TestPages(t *testing.T) {
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		want  previews.Preview
	}{
		"open graph": {head(`<html><head><title>T</title><meta property="og:title" content="Tea &amp; cake"><meta property="og:title" content="second">
			<meta property="og:description" content="All about
			tea"><meta name="description" content="x"><meta property="og:site_name" content="Teas"><meta property="og:image" content="/tea.png">`),
			previews.Preview{Title: "Tea & cake", Description: "All about tea", Site: "Teas"}}, // its picture would be by plain http
		"a title": {head(`<!doctype html><TITLE> Plain
			page </TITLE><META NAME="Description" CONTENT="words">`), previews.Preview{Title: "Plain page", Description: "words"}},
		"a script in the title": {head(`<title><script>alert(1)</script> hi</title>`), previews.Preview{Title: "<script>alert(1)</script> hi"}},
		"what is not the head": {head(`<head><script>"<title>no</title>"</script><!-- <title>no</title> --><title>yes</title></head><body><svg><title>no</title></svg>
			<meta property="og:title" content="no">`), previews.Preview{Title: "yes"}},
		"letters that are not seen": {head("<title>a\u202e\u0000\u0007b\u200b\u2028c\ufffd</title>"), previews.Preview{Title: "a b c"}},
		"a long title":              {head("<title>" + strings.Repeat("茶", 1000) + "</title>"), previews.Preview{Title: strings.Repeat("茶", titleMax) + "…"}},
		"pictures": {head(`<title>t</title><meta property="og:image" content="https://images.example/a.png#x">`),
			previews.Preview{Title: "t", Image: "https://images.example/a.png"}},
		"a picture of this network": {head(`<title>t</title><meta property="og:image" content="https://10.0.0.1/a.png">`), previews.Preview{Title: "t"}},
		"a picture of script":       {head(`<title>t</title><meta property="og:image" content="javascript:alert(1)">`), previews.Preview{Title: "t"}},
		"Shift JIS by its header": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=Shift_JIS")
			_, _ = w.Write([]byte("<title>\x82\xa8\x92\x83</title>"))
		}, previews.Preview{Title: "お茶"}},
		"Latin 1 by its element": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<meta charset=iso-8859-1><title>th\xe9</title>"))
		}, previews.Preview{Title: "thé"}},
		"bytes that are no text": {head("<title>a\xff\xfeb</title>"), previews.Preview{Title: "ab"}},
		"an endless body": {func(w http.ResponseWriter, r *http.Request) {
			head(`<title>first</title>`)(w, r)
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		}, previews.Preview{Title: "first"}},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				http.Redirect(w, r, "/there", http.StatusFound)
				return
			}
			head(`<title>there</title>`)(w, r)
		}, previews.Preview{Title: "there"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := New(here, "chatd/test (+link preview)")
			f.within = time.Minute // this test is not about time
			got, err := f.Fetch(t.Context(), pages(t, c.serve)+"/#part")
			if err != nil || got != c.want {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	var inside atomic.Int64
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	private := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside.Add(1) }))
	_ = private.Listener.Close()
	private.Listener = listener
	private.Start()
	t.Cleanup(private.Close)
	for name, serve := range map[string]http.HandlerFunc{
		"no title":       head(`<p>hello`),
		"empty":          head(``),
		"an endless tag": head(`<title ` + strings.Repeat("x", 2*pageBytesMax)),
		"a picture": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "image/png")
			_, _ = fmt.Fprint(w, "<title>no</title>")
		},
		"not found": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprint(w, "<title>no</title>")
		},
		"redirects without end":           func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path+"x", http.StatusFound) },
		"a redirect to a private address": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, private.URL, http.StatusFound) },
		"a redirect to a file": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		},
		"a redirect with a password": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://a:b@"+r.Host, http.StatusFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := New(here, "chatd")
			f.within = time.Minute
			if got, err := f.Fetch(t.Context(), pages(t, serve)); err == nil {
				t.Errorf("got %+v", got)
			}
		})
	}
	for _, link := range []string{private.URL, "https://" + listener.Addr().String(), "http://localhost/", "http://169.254.169.254/latest", "https://[::1]/", "gopher://a/", "https://a:b@public.example/"} {
		if got, err := New(nil, "chatd").Fetch(t.Context(), link); err == nil {
			t.Errorf("%s: got %+v", link, got)
		}
	}
	if n := inside.Load(); n != 0 {
		t.Errorf("the private address was asked %d times", n)
	}
}

// TestSlowPage has a page that never ends, byte by byte.
func TestSlowPage(t *testing.T) {
	at := pages(t, func(w http.ResponseWriter, r *http.Request) {
		head(`<title>slow`)(w, r)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	f := New(here, "chatd")
	if f.within != 5*time.Second {
		t.Errorf("a fetch takes up to %s", f.within)
	}
	f.within = 200 * time.Millisecond
	if _, err := f.Fetch(t.Context(), at); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestUserAgent(t *testing.T) {
	agents := make(chan string, 1)
	at := pages(t, func(w http.ResponseWriter, r *http.Request) {
		agents <- r.UserAgent()
		head(`<title>t</title>`)(w, r)
	})
	if _, err := New(here, "chatd/1 (+link preview)").Fetch(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	if got := <-agents; got != "chatd/1 (+link preview)" {
		t.Errorf("got %q", got)
	}
}

func TestTargets(t *testing.T) {
	f := New(nil, "chatd")
	for link, want := range map[string]string{
		"http://public.example/a#b":   "https://public.example/a",
		"http://public.example:80/":   "https://public.example/",
		"http://[2600::1]:80/":        "https://[2600::1]/",
		"http://[::ffff:10.0.0.1]/":   "",
		"https://[::ffff:127.0.0.1]/": "",
		"https://2130706433/":         "",
		"https://0x7f.1/":             "",
		"https://[fe80::1%25eth0]/":   "",
		"https://[64:ff9b::a00:1]/":   "",
		"https://public.example:443/": "https://public.example:443/",
		"https://public.example:22/":  "",
		"http://public.example:8080/": "",
		"https://example.com/?a=b":    "https://example.com/?a=b",
	} {
		got, err := f.target(link)
		if want == "" && err == nil || want != "" && (err != nil || got.String() != want) {
			t.Errorf("%s: got %v, %v, want %q", link, got, err, want)
		}
	}
}
