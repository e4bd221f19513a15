package origin

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// Bounds of the warnings: the sender of a request chooses its origin.
const (
	warnEvery      = time.Hour   // for each origin
	warnedMax      = 100         // origins within that time; of more, the log names one now and then, with the number of others
	othersEvery    = time.Minute // between two of these
	originBytesMax = 256         // of an origin in the log
)

// refusals remembers which origins the log has named.
type refusals struct {
	mu    sync.Mutex
	named map[string]time.Time // when

	others     int       // requests from origins that the log did not name since
	saidOthers time.Time // when it named one of more than warnedMax
}

// note reports whether the log should name an origin now, and how many requests from others it has not named.
func (f *refusals) note(origin string, now time.Time) (name bool, others int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at, known := f.named[origin]; known && now.Sub(at) < warnEvery {
		return false, 0
	}
	if len(f.named) >= warnedMax {
		for other, at := range f.named {
			if now.Sub(at) >= warnEvery {
				delete(f.named, other)
			}
		}
		if len(f.named) >= warnedMax {
			if now.Sub(f.saidOthers) < othersEvery {
				f.others++
				return false, 0
			}
			others, f.others, f.saidOthers = f.others, 0, now
			return true, others
		}
	}
	if f.named == nil {
		f.named = map[string]time.Time{}
	}
	f.named[origin] = now
	return true, 0
}

// warn says in the log whose pages may not call, and what to set if they should.
func (p *Policy) warn(r *http.Request, origin string) {
	origin = strings.Clone(origin[:min(len(origin), originBytesMax)])
	if p.log == nil {
		return
	}
	name, others := p.refused.note(origin, time.Now())
	if !name {
		return
	}
	schemes, hosts := p.asked(r)
	p.log.WarnContext(r.Context(), "pages of this origin may not call the server. If it is another site that may, list it in CHATD_ORIGINS. "+
		"If it is this server behind a proxy, list the proxy in CHATD_TRUSTED_PROXIES, and have it pass on the host with its port and X-Forwarded-Proto",
		"origin", origin, "asked", schemes[0]+"://"+hosts[0], "from", r.RemoteAddr, "others", others)
}
