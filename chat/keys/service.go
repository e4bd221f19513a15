package keys

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/table"
)

// TableName is the name of the table of keys.
const TableName = "keys"

// Store is what keys need from a store, besides their table.
type Store interface {
	table.Rows
	// UseRow records that what a row stands for was used now. Nothing happens if there is no such row.
	UseRow(ctx context.Context, table, id string) error
	// UsedRows reads when rows were last used, in ms. Rows that never were are left out.
	UsedRows(ctx context.Context, table string) (map[string]int64, error)
}

// Options of a Service.
type Options struct {
	Page      func(limit int) (int, error) // how many entries a page has
	CheckRate func(text string) error      // whether a rate is one
	Now       func() time.Time
	Log       *slog.Logger
	Changed   func() // is called after keys have changed, here or on another node
}

// Service makes keys and verifies them. It is safe for concurrent use.
type Service struct {
	store Store
	opt   Options
	table *table.Table[*Key]

	mu   sync.Mutex
	used map[string]time.Time // when this node recorded the last use of a key
}

// New makes a Service. Its Table has to be followed.
func New(store Store, opt Options) *Service {
	s := &Service{store: store, opt: opt, used: map[string]time.Time{}}
	s.table = table.New(TableName, keysMax, decode, func([]string) {
		if opt.Changed != nil {
			opt.Changed()
		}
	}, opt.Log)
	return s
}

// Table is the table of keys of the node.
func (s *Service) Table() *table.Table[*Key] { return s.table }

func decode(id, text string) (*Key, error) {
	k := &Key{ID: id}
	if err := json.Unmarshal([]byte(text), k); err != nil {
		return nil, err
	}
	var err error
	k.from, err = parseNetworks(k.From)
	return k, err
}

// Maker is who manages keys: an operator, or a key with the scope Keys.
type Maker struct {
	User string // the operator
	Key  *Key   // nil for an operator
}

// notes is what the audit gets of something that is done to a key.
func (m Maker) notes(action audit.Action, k *Key) []audit.Entry {
	by := chat.Caller{User: m.name()}
	if m.Key != nil {
		by.Via = m.Key.ID
	}
	return []audit.Entry{audit.Note(by, action, "", "", noted{k.ID})}
}

// noted is what the audit says of a key.
type noted struct {
	Key string `json:"key"`
}

func (m Maker) name() string {
	if m.Key != nil {
		return m.Key.Name()
	}
	return m.User
}

// secretBytes is the length of a secret: 256 random bits, so that a plain hash of it tells nothing.
const secretBytes = 32

var secretEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// prefix begins every key.
const prefix = "ck_"

// newSecret makes a secret for a key, as its holder and as the store have it.
func newSecret(id string) (key string, stored Secret) {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // never fails; see crypto/rand
	secret := secretEncoding.EncodeToString(b)
	return prefix + id + "_" + secret, Secret{SHA256: digest(secret)}
}

func digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Create makes a key. retry is a retry key that the caller chose for this draft, or empty: repeating it returns the same key,
// without its secret.
func (s *Service) Create(ctx context.Context, by Maker, draft Draft, retry string) (View, error) {
	if err := draft.check(s.opt.CheckRate, s.opt.Now()); err != nil {
		return View{}, err
	}
	if err := draft.within(by.Key); err != nil {
		return View{}, err
	}
	creation := ""
	if retry != "" {
		creation = chat.Hash([]byte("key"), []byte(by.name()), []byte(retry))
	}
	k := &Key{ID: chat.NewID(creation), Draft: draft, CreatedAt: chat.TimeMs(s.opt.Now().UnixMilli()), CreatedBy: by.name()}
	secret, stored := newSecret(k.ID)
	k.Secrets = []Secret{stored}
	text, err := json.Marshal(k)
	if err != nil {
		return View{}, chat.AsError(err)
	}
	_, err = s.table.Put(ctx, s.store, table.Row{ID: k.ID, Text: string(text), Notes: by.notes(audit.KeyCreate, k)})
	if errors.Is(err, chat.ErrConflict) && retry != "" {
		k, err = s.key(ctx, k.ID) // the first request made it, and its answer was lost
		secret = ""
	}
	if err != nil {
		return View{}, chat.AsError(err)
	}
	v := k.view(nil)
	v.Key = secret
	return v, nil
}

// key reads a key from the store.
func (s *Service) key(ctx context.Context, id string) (*Key, error) {
	row, err := s.store.Row(ctx, TableName, id)
	if err != nil && !errors.Is(err, chat.ErrNotFound) {
		return nil, chat.AsError(err)
	}
	return stored(id, row.Text)
}

// stored is a key as a row has it.
func stored(id, text string) (*Key, error) {
	if text == "" {
		return nil, ErrNotFound
	}
	k, err := decode(id, text)
	if err != nil {
		return nil, chat.AsError(fmt.Errorf("key %s cannot be read: %w", id, err))
	}
	return k, nil
}

// ErrNotFound is the answer for a key that does not exist.
var ErrNotFound = chat.Errorf(chat.CodeNotFound, "no such key")

// List lists the keys that by may manage, by id, after the id `after`.
func (s *Service) List(ctx context.Context, by Maker, limit int, after string) (chat.List[View], error) {
	limit, err := s.opt.Page(limit)
	if err != nil {
		return chat.List[View]{}, err
	}
	used, err := s.store.UsedRows(ctx, TableName)
	if err != nil {
		return chat.List[View]{}, chat.AsError(err)
	}
	list := chat.List[View]{Items: []View{}}
	for _, k := range s.table.All() {
		if k.ID > after && k.within(by.Key) == nil {
			list.Items = append(list.Items, k.view(used))
		}
	}
	slices.SortFunc(list.Items, func(a, b View) int { return cmp.Compare(a.ID, b.ID) })
	if len(list.Items) > limit {
		list.Items = list.Items[:limit]
		list.Next = list.Items[limit-1].ID
	}
	return list, nil
}

// Get returns one key.
func (s *Service) Get(ctx context.Context, by Maker, id string) (View, error) {
	k, err := s.key(ctx, id)
	if err == nil {
		err = k.within(by.Key)
	}
	if err != nil {
		return View{}, err
	}
	return s.viewOf(ctx, k)
}

// viewOf is a key with when it was last used.
func (s *Service) viewOf(ctx context.Context, k *Key) (View, error) {
	used, err := s.store.UsedRows(ctx, TableName)
	if err != nil {
		return View{}, chat.AsError(err)
	}
	return k.view(used), nil
}

// change changes a key that by may manage, before and after: none that may do more than by.
func (s *Service) change(ctx context.Context, by Maker, id string, action audit.Action, change func(*Key) error) (k *Key, err error) {
	_, err = s.table.ChangeNoted(ctx, s.store, id, func(text string) (string, []audit.Entry, error) {
		if k, err = stored(id, text); err == nil {
			err = k.within(by.Key)
		}
		if err == nil {
			err = change(k)
		}
		if err == nil {
			err = k.within(by.Key)
		}
		if err != nil {
			return "", nil, err
		}
		changed, err := json.Marshal(k)
		return string(changed), by.notes(action, k), err
	})
	return k, chat.AsError(err)
}

// Change changes what a patch names: the JSON of some fields of a Draft, checked by the caller; null clears one.
func (s *Service) Change(ctx context.Context, by Maker, id string, patch []byte) (View, error) {
	k, err := s.change(ctx, by, id, audit.KeyUpdate, func(k *Key) error {
		expires := k.ExpiresAt
		if k.ExpiresAt != nil {
			kept := *expires // json would write into the same place
			k.ExpiresAt = &kept
		}
		if err := json.Unmarshal(patch, &k.Draft); err != nil {
			var ours *chat.Error
			if errors.As(err, &ours) {
				return ours
			}
			return chat.Invalid("the key cannot be changed so: a field has another type")
		}
		now := s.opt.Now()
		if expires != nil && k.ExpiresAt != nil && expires.Equal(k.ExpiresAt.Time) {
			now = time.Time{} // an expired key may get another name
		}
		return k.check(s.opt.CheckRate, now)
	})
	if err != nil {
		return View{}, err
	}
	return s.viewOf(ctx, k)
}

// Rotate gives a key a new secret. The one before holds for the overlap; one that was replaced earlier is void.
func (s *Service) Rotate(ctx context.Context, by Maker, id string, overlap time.Duration) (View, error) {
	if overlap < 0 || overlap > OverlapMax {
		return View{}, chat.OutOfRange("overlap_s", 0, int64(OverlapMax/time.Second))
	}
	secret, stored := newSecret(id)
	k, err := s.change(ctx, by, id, audit.KeyRotate, func(k *Key) error {
		before := k.Secrets[0]
		k.Secrets = []Secret{stored}
		if overlap > 0 {
			until := chat.TimeMs(s.opt.Now().Add(overlap).UnixMilli())
			before.Until = &until
			k.Secrets = append(k.Secrets, before)
		}
		return nil
	})
	if err != nil {
		return View{}, err
	}
	v, err := s.viewOf(ctx, k)
	v.Key = secret
	return v, err
}

// Delete removes a key: it is void on this node at once and on every other within a second.
func (s *Service) Delete(ctx context.Context, by Maker, id string) error {
	_, err := s.table.ChangeNoted(ctx, s.store, id, func(text string) (string, []audit.Entry, error) {
		k, err := stored(id, text)
		if err != nil {
			return "", nil, err
		}
		return "", by.notes(audit.KeyDelete, k), k.within(by.Key)
	})
	return chat.AsError(err)
}

func (k *Key) view(used map[string]int64) View {
	v := View{ID: k.ID, Draft: k.Draft, CreatedAt: k.CreatedAt, CreatedBy: k.CreatedBy}
	if ms := used[k.ID]; ms > 0 {
		at := chat.TimeMs(ms)
		v.LastUsedAt = &at
	}
	return v
}

// Is tells whether a credential is a key rather than a token.
func Is(credential string) bool { return strings.HasPrefix(credential, prefix) }

// errVoid is the one answer for keys that are malformed, unknown, void, replaced or expired.
var errVoid = chat.Errorf(chat.CodeUnauthenticated, "the key is not valid: unknown, removed, replaced or expired")

// Verify checks a key that is used from an address. ends is when it stops to hold; the zero time: no end is known.
func (s *Service) Verify(credential string, from netip.Addr) (k *Key, ends time.Time, err error) {
	id, secret, _ := strings.Cut(strings.TrimPrefix(credential, prefix), "_")
	got, now := digest(secret), s.opt.Now() // also of an unknown key, so that the time tells nothing
	k, ok := s.table.Get(id)
	if !ok {
		return nil, ends, errVoid
	}
	for _, stored := range k.Secrets {
		at, end := k.ends(stored)
		if subtle.ConstantTimeCompare([]byte(stored.SHA256), []byte(got)) != 1 || end && !now.Before(at) {
			continue
		}
		if !k.ComesFrom(from) {
			return nil, ends, chat.Errorf(chat.CodeForbidden, "from: the key may not be used from this address")
		}
		return k, at, nil
	}
	return nil, ends, errVoid
}

// useEvery is how long a use of a key counts as the last one.
const useEvery = time.Minute

// Used records that a key is used: at once for the first use on this node, and then once a minute. A use that cannot be
// recorded is only logged.
func (s *Service) Used(ctx context.Context, k *Key) {
	now := s.opt.Now()
	s.mu.Lock()
	due := now.Sub(s.used[k.ID]) >= useEvery
	if due {
		s.used[k.ID] = now
	}
	s.mu.Unlock()
	if !due {
		return
	}
	if err := s.store.UseRow(ctx, TableName, k.ID); err != nil {
		s.opt.Log.DebugContext(ctx, "cannot record the use of a key", "error", err)
	}
}
