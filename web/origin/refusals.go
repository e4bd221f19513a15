package origin

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// Bounds of the warnings: whoever sends a request chooses its origin.
const (
	warnEvery      = time.Hour // for each origin
	warnedMax      = 100       // origins within that time; the log says nothing of more
	originBytesMax = 256       // of an origin in the log
)

// refusals remembers which origins the log has named.
type refusals struct {
	mu    sync.Mutex
	named map[string]time.Time // when
}

// note reports whether the log should name an origin now.
func (f *refusals) note(origin string, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at, known := f.named[origin]; known && now.Sub(at) < warnEvery {
		return false
	}
	if len(f.named) >= warnedMax {
		for other, at := range f.named {
			if now.Sub(at) >= warnEvery {
				delete(f.named, other)
			}
		}
		if len(f.named) >= warnedMax {
			return false
		}
	}
	if f.named == nil {
		f.named = map[string]time.Time{}
	}
	f.named[origin] = now
	return true
}

// warn says in the log whose pages may not call, and what to set if they should.
func (p *Policy) warn(r *http.Request, origin string) {
	origin = strings.Clone(origin[:min(len(origin), originBytesMax)])
	if p.log == nil || !p.refused.note(origin, time.Now()) {
		return
	}
	schemes, hosts := p.asked(r)
	p.log.WarnContext(r.Context(), "pages of this origin may not call the server. If it is another site that may, list it in CHATD_ORIGINS. "+
		"If it is this server behind a proxy, list the proxy in CHATD_TRUSTED_PROXIES, and have it pass on the host with its port and X-Forwarded-Proto",
		"origin", origin, "asked", schemes[0]+"://"+hosts[0], "from", r.RemoteAddr)
}
