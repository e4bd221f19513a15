package auth

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/internal/egress"
)

// Bounds of a key set.
const (
	keySetBytesMax = 256 << 10
	rsaBitsMin     = 2048
	fetchTimeout   = 5 * time.Second
	urlEvery       = 5 * time.Minute  // from a URL: the longest time for which a removed key is still trusted
	urlGap         = 30 * time.Second // between two fetches caused by unknown key ids
	fileEvery      = 10 * time.Second
	fileGap        = time.Second
	firstGap       = time.Second // while there are no keys yet
)

// keySet is a JSON Web Key Set from a URL or a file. Keys stay in use while their source cannot be read.
type keySet struct {
	read    func(context.Context) ([]byte, error)
	changed func() // called when the keys have changed
	every   time.Duration
	gap     time.Duration
	now     func() time.Time
	log     *slog.Logger

	loaded atomic.Pointer[loadedKeys]

	mu   sync.Mutex // held during a refresh: there is one at a time, and the others wait for it
	last time.Time  // when the last refresh began
}

type loadedKeys struct {
	raw   []byte
	keys  keyfunc.Keyfunc
	ids   map[string]bool
	count int
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
	k.last = k.now()
	err = k.load(ctx)
	if err == nil {
		return k, nil
	}
	if isURL && errors.Is(err, errSource) {
		k.log.Warn("cannot load the key set for tokens; retrying", "error", err)
		return k, nil
	}
	return nil, err
}

// errSource marks a source that could not be read, as opposed to one with invalid content.
var errSource = errors.New("the key set cannot be read")

func (k *keySet) load(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
	defer cancel()
	raw, err := k.read(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errSource, err)
	}
	before := k.loaded.Load()
	if before != nil && bytes.Equal(before.raw, raw) {
		return nil
	}
	keys, err := parseKeySet(ctx, raw)
	if err != nil {
		return err
	}
	k.loaded.Store(keys)
	k.changed()
	return nil
}

// find returns the key for a token: by its kid, or all keys if it has none. For an unknown kid it reads the source again.
func (k *keySet) find(ctx context.Context, t *jwt.Token) (any, error) {
	kid, named := t.Header["kid"].(string)
	holds := func(l *loadedKeys) bool { return l != nil && (!named || l.ids[kid]) }
	l := k.loaded.Load()
	if !holds(l) {
		k.refresh(ctx)
		if l = k.loaded.Load(); l == nil {
			return nil, chat.ErrUnavailable
		}
		if !holds(l) {
			return nil, errUnknownKey
		}
	}
	return l.keys.KeyfuncCtx(ctx)(t)
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
	if err := k.load(ctx); err != nil {
		k.log.Warn("cannot refresh the key set for tokens; the current keys stay in use", "error", err)
	}
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
	return raw, err
}

// parseKeySet returns the keys that can verify a token. It skips keys for other purposes; a weak or symmetric key is an
// error, because whoever put it there expects it to be used.
func parseKeySet(ctx context.Context, raw []byte) (*loadedKeys, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(raw, &set); err != nil {
		return nil, errors.New("the key set is no JSON object with a list of keys")
	}
	out := &loadedKeys{raw: raw, ids: make(map[string]bool)}
	var usable []json.RawMessage
	for i, one := range set.Keys {
		id, ok, err := checkKey(one)
		if err != nil {
			return nil, fmt.Errorf("key %d of the set: %w", i+1, err)
		}
		if ok {
			usable = append(usable, one)
			out.ids[id] = true
			out.count++
		}
	}
	if out.count == 0 {
		return nil, errors.New("the key set holds no RSA, P-256 or Ed25519 key for signatures")
	}
	kept, err := json.Marshal(map[string]any{"keys": usable})
	if err != nil {
		return nil, err
	}
	out.keys, err = keyfunc.NewJWKSetJSON(kept)
	return out, err
}

// checkKey reports whether a key of a set is for verifying.
func checkKey(raw json.RawMessage) (id string, ok bool, err error) {
	var head struct {
		Kty string `json:"kty"`
		Use string `json:"use"`
		Kid string `json:"kid"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return "", false, errors.New("no JSON object")
	}
	if head.Kty == "oct" {
		return "", false, errors.New("a symmetric key belongs in CHATD_JWT_SECRET, not in a key set")
	}
	if head.Use != "" && head.Use != "sig" {
		return "", false, nil
	}
	one, err := keyfunc.NewJWKJSON(raw)
	if err != nil {
		return "", false, nil //nolint:nilerr // a kind of key that this server cannot use
	}
	all, err := one.Storage().KeyReadAll(context.Background())
	if err != nil || len(all) != 1 {
		return "", false, err
	}
	key := all[0].Key()
	if private, isPrivate := key.(interface{ Public() crypto.PublicKey }); isPrivate {
		key = private.Public()
	}
	switch k := key.(type) {
	case *rsa.PublicKey:
		if k.N.BitLen() < rsaBitsMin {
			return "", false, fmt.Errorf("an RSA key needs at least %d bits", rsaBitsMin)
		}
		return head.Kid, true, nil
	case *ecdsa.PublicKey:
		return head.Kid, k.Curve == elliptic.P256(), nil
	case ed25519.PublicKey:
		return head.Kid, true, nil
	default:
		return "", false, nil
	}
}
