package auth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/egress"
)

// Bounds of a key set.
const (
	keySetBytesMax = 256 << 10
	fetchTimeout   = 5 * time.Second
	urlEvery       = 5 * time.Minute  // from a URL: the longest time for which a removed key is still trusted
	urlGap         = 30 * time.Second // between two fetches caused by unknown key ids
	fileEvery      = 10 * time.Second
	fileGap        = time.Second
	firstGap       = time.Second    // while there are no keys yet
	keysHeldMax    = 24 * time.Hour // how long keys stay in use while their source cannot be read
	unusableNamed  = 20             // keys that a warning names
)

// keySet is a JSON Web Key Set from a URL or a file. What was read last replaces what was known before, whatever it holds.
// While the source cannot be read, the keys stay in use for up to keysHeldMax.
type keySet struct {
	read    func(context.Context) ([]byte, error)
	changed func() // called when the keys have changed
	every   time.Duration
	gap     time.Duration
	now     func() time.Time
	log     *slog.Logger

	loaded atomic.Pointer[loadedKeys] // nil: there is nothing to trust

	mu      sync.Mutex // held during a refresh: there is one at a time, and the others wait for it
	last    time.Time  // when the last refresh began
	failure string     // why the source cannot be read, as the log says; empty: it can
	skipped string     // the keys of the source that cannot be used, as the log says
}

type loadedKeys struct {
	raw  []byte
	at   time.Time // when the source was last read
	keys []verifyKey
}

func openKeySet(ctx context.Context, opt TokenOptions, changed func()) (*keySet, error) {
	k := &keySet{changed: changed, now: opt.Now, log: opt.Log, every: fileEvery, gap: fileGap}
	u, err := url.Parse(opt.JWKS)
	isURL := err == nil && (u.Scheme == "http" || u.Scheme == "https")
	if !isURL && strings.Contains(opt.JWKS, "://") {
		return nil, errors.New("want an https URL or a file")
	}
	if isURL {
		client := egress.Client(opt.Egress, keySetBytesMax)
		k.every, k.gap = urlEvery, urlGap
		k.read = func(ctx context.Context) ([]byte, error) { return fetch(ctx, client, u.String()) }
	} else {
		k.read = func(context.Context) ([]byte, error) { return readBounded(opt.JWKS) }
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = k.now()
	err = k.loadLocked(ctx)
	switch {
	case isURL: // what another server says is no reason not to start
		k.reportLocked(err)
	case err != nil:
		return nil, err
	case len(k.loaded.Load().keys) == 0:
		return nil, errors.New("the key set holds no key that verifies tokens" + listOf(k.skipped))
	}
	return k, nil
}

// loadLocked reads the source. An error means that the keys in use stay what they are.
func (k *keySet) loadLocked(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
	defer cancel()
	now := k.now()
	raw, err := k.read(ctx)
	if err != nil {
		return err
	}
	if before := k.loaded.Load(); before != nil && bytes.Equal(before.raw, raw) {
		k.loaded.Store(&loadedKeys{raw: before.raw, at: now, keys: before.keys})
		return nil
	}
	keys, unusable, err := parseKeySet(raw)
	if err != nil {
		return err
	}
	k.loaded.Store(&loadedKeys{raw: raw, at: now, keys: keys})
	k.changed()
	k.warnLocked(unusable, len(keys))
	return nil
}

// warnLocked logs which keys of the source cannot be used, once as long as they stay the same.
func (k *keySet) warnLocked(unusable []string, usable int) {
	slices.Sort(unusable) // the order of a set may change with each answer
	if more := len(unusable) - unusableNamed; more > 0 {
		unusable = append(unusable[:unusableNamed], fmt.Sprintf("and %d more", more))
	}
	skipped := strings.Join(unusable, "; ")
	if skipped != k.skipped && skipped != "" {
		k.log.Warn("skipping keys of the key set that cannot verify tokens", "keys", skipped)
	}
	k.skipped = skipped
	if usable == 0 {
		k.log.Warn("the key set holds no key that verifies tokens: those that need one are refused")
	}
}

// reportLocked logs why the source cannot be read, once for each cause, and that it can be read again.
func (k *keySet) reportLocked(err error) {
	failure := ""
	if err != nil {
		failure = err.Error()
	}
	l := k.current()
	switch {
	case failure == k.failure:
	case failure == "":
		k.log.Info("the key set for tokens can be read again")
	case l == nil:
		k.log.Warn("cannot read the key set for tokens; retrying", "error", err)
	default:
		k.log.Warn("cannot read the key set for tokens; its keys stay in use for a day at most", "error", err, "until", l.at.Add(keysHeldMax).UTC())
	}
	k.failure = failure
}

func listOf(skipped string) string {
	if skipped == "" {
		return ""
	}
	return "; skipped: " + skipped
}

// current returns the keys in use; nil if none were read yet, or not for too long.
func (k *keySet) current() *loadedKeys {
	l := k.loaded.Load()
	if l == nil || k.now().Sub(l.at) <= keysHeldMax {
		return l
	}
	if k.loaded.CompareAndSwap(l, nil) {
		k.changed()
		k.log.Error("the key set for tokens could not be read for too long: its keys are no longer trusted", "since", l.at.UTC())
	}
	return k.loaded.Load()
}

// find returns the keys that may verify a token: those with its kid, or all if it has none, as far as its algorithm is
// theirs. For an unknown kid it reads the source again.
func (k *keySet) find(ctx context.Context, t *jwt.Token) (any, error) {
	kid, named := t.Header["kid"].(string)
	of := func(l *loadedKeys) (found []verifyKey) {
		if l == nil {
			return nil
		}
		if !named {
			return l.keys
		}
		return slices.DeleteFunc(slices.Clone(l.keys), func(key verifyKey) bool { return key.id != kid })
	}
	found := of(k.current())
	if len(found) == 0 {
		k.refresh(ctx)
		l := k.current()
		if l == nil {
			return nil, chat.ErrUnavailable
		}
		if found = of(l); len(found) == 0 {
			if named {
				return nil, errUnknownKey
			}
			return nil, errNoKeys
		}
	}
	var fitting jwt.VerificationKeySet
	for _, key := range found {
		if key.fits(t.Method) {
			fitting.Keys = append(fitting.Keys, key.public)
		}
	}
	if len(fitting.Keys) == 0 {
		return nil, errOtherKey
	}
	return fitting, nil
}

// refresh reads the source again, unless that happened within the gap: no matter how many tokens name keys that do not exist,
// the source gets one request per gap.
func (k *keySet) refresh(ctx context.Context) {
	k.mu.Lock()
	defer k.mu.Unlock()
	gap := k.gap
	if k.loaded.Load() == nil {
		gap = firstGap
	}
	if k.now().Sub(k.last) < gap {
		return
	}
	k.last = k.now()
	k.reportLocked(k.loadLocked(ctx))
}

func (k *keySet) run(ctx context.Context) {
	tick := time.NewTicker(k.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			k.refresh(ctx)
		}
	}
}

func fetch(ctx context.Context, client *http.Client, from string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", resp.StatusCode)
	}
	return bounded(resp.Body)
}

func readBounded(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return bounded(f)
}

func bounded(r io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, keySetBytesMax+1))
	if err == nil && len(raw) > keySetBytesMax {
		err = fmt.Errorf("more than %d bytes", keySetBytesMax)
	}
	return bytes.TrimPrefix(raw, []byte("\ufeff")), err // some editors begin a file with this mark
}
