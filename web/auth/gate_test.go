package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/accounts"
	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/chat/table"
	"github.com/chatd/chatd/chat/users"
)

// rows is a store of one table without anything else.
type rows map[string]table.Row

func (r rows) Row(_ context.Context, _, id string) (table.Row, error) {
	row, ok := r[id]
	if !ok {
		return row, chat.ErrNotFound
	}
	return row, nil
}

func (r rows) Put(_ context.Context, _ string, row table.Row, _ int) (int64, error) {
	row.Version = time.Now().UnixNano()
	r[row.ID] = row
	return row.Version, nil
}

func (rows) NodesOf(context.Context, string) ([]string, error) { return nil, nil }

func newGate(tb testing.TB) *Gate {
	tb.Helper()
	v, err := NewVerifier(context.Background(), TokenOptions{Secrets: [][]byte{testSecret}})
	if err != nil {
		tb.Fatal(err)
	}
	return &Gate{Tokens: v, Profiles: profiles.New(nil, nil, profiles.Options{Now: time.Now}), Users: users.New(rows{}, users.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)})}
}

// TestIssuedAt: the time of issue is known of a token, also when it is in the cache, however the claim is written.
func TestIssuedAt(t *testing.T) {
	g := newGate(t)
	at := time.Now().Add(-time.Minute).Unix()
	for what, c := range map[string]struct {
		iat  any
		want int64
	}{
		"a number": {at, at}, "a fraction": {float64(at) + 0.9, at}, "exponential": {json.Number("1.79e9"), 1_790_000_000}, "absent": {nil, 0}, "a string": {"1", 0}, "null": {json.RawMessage("null"), 0},
	} {
		claims := object{"sub": "alice", "exp": time.Now().Add(time.Hour).Unix()}
		if c.iat != nil {
			claims["iat"] = c.iat
		}
		token := sign(t, jwt.SigningMethodHS256, testSecret, nil, claims)
		for range 2 {
			who, err := g.Verify(t.Context(), Credentials{Token: token})
			if err != nil || who.IssuedS != c.want {
				t.Errorf("%s: got %+v, %v; want %d", what, who, err, c.want)
			}
		}
	}
}

// TestCachedTokensAreRevoked: a token that was verified is refused once it is revoked.
func TestCachedTokensAreRevoked(t *testing.T) {
	g := newGate(t)
	token, _, err := SignToken(testSecret, Claims{User: "alice", TTL: time.Hour}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	who, err := g.Verify(t.Context(), Credentials{Token: token})
	if err == nil {
		_, err = g.Again(who, netip.Addr{})
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Users.Revoke(t.Context(), chat.Caller{User: "root", Admin: true}, "alice", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Verify(t.Context(), Credentials{Token: token}); !errors.Is(err, ErrNoToken) {
		t.Errorf("got %v, want unauthenticated", err)
	}
}

// BenchmarkGate is what a verified token costs in all: where nothing is decided about any user, and where something is about others; a
// token of a backend, and one of a login here, which may end.
func BenchmarkGate(b *testing.B) {
	g := newGate(b)
	g.CheckLogin = accounts.New(nil, accounts.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)}).CheckLogin
	for _, decided := range []int{0, 1000} {
		for i := range decided {
			if err := g.Users.Revoke(b.Context(), chat.Caller{User: "root", Admin: true}, fmt.Sprintf("user-%d", i), nil); err != nil {
				b.Fatal(err)
			}
		}
		for _, login := range []string{"", "login"} {
			token, _, err := SignToken(testSecret, Claims{User: "alice", Login: login, TTL: time.Hour}, time.Now())
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%d%s", decided, login), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := g.Verify(context.Background(), Credentials{Token: token}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
