package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

// attackFor is how long the attacks last at least, each beside the calls of an innocent pair. On a busy machine they go on
// until they have met their limit.
const attackFor = 4 * time.Second

// TestOneCallerCannotHurtOthers has a script flood a node that is configured as it comes, in every way that one token has,
// and with none. Meanwhile every call of an innocent pair succeeds, and what the script gets through is what is allowed.
func TestOneCallerCannotHurtOthers(t *testing.T) {
	node := harness.StartNode(t, harness.Config{Env: map[string]string{
		"CHATD_RATE_USER": "100/s:1000", "CHATD_RATE_SEND": "10/s:200", "CHATD_RATE_IP": "", "CHATD_MAX_POLLS": "", "CHATD_MAX_CALLS": "",
		"CHATD_MAX_CALLS_NODE":    "",
		"CHATD_MAX_SESSIONS_NODE": "1200", // half of it without a token, so that the attack without a token is soon one too many
	}})
	ctx := bounded(t, 2*time.Minute)
	if _, err := node.Client("alice").CreateGroup(ctx, client.GroupDraft{ID: "pair", Members: []string{"bob"}}); err != nil {
		t.Fatal(err)
	}
	f := &flood{node: node}
	for _, attack := range []struct {
		name   string
		refuse string // the limit that has to show in the metrics
		most   float64
		call   func() int
	}{
		{"sends", "send", 200 + 10*(attackFor.Seconds()+1), func() int { return f.http("POST", "/v1/groups/mallory-send/messages", `{"body":"x"}`) }},
		{"large pages", "user", 1000.0/21 + 100.0/21*(attackFor.Seconds()+1), func() int { return f.http("GET", "/v1/groups/mallory-user/messages?limit=1000", "") }},
		{"waiting polls", "polls", 0, func() int { return f.http("POST", "/v1/sync", `{"wait_s":2,"inbox_after":0}`) }},
		{"sockets with a token", "sessions", 0, func() int { return f.socket(f.token) }},
		{"sockets without a token", "silent", 0, func() int { return f.socket("") }},
	} {
		t.Run(attack.name, func(t *testing.T) {
			user := "mallory-" + attack.refuse
			f.token = harness.Token(user, "", time.Hour)
			group := must(node.Client(user).CreateGroup(ctx, client.GroupDraft{ID: user}))(t)
			must(node.Client(user).Ack(ctx, user, group.Last))(t) // so that polls wait
			before := limited(t, node, attack.refuse)
			took, taken, refused := f.while(ctx, attack.call, func(ctx context.Context) {
				innocentPair(ctx, t, node, func() bool { return limited(t, node, attack.refuse) > before })
			})
			t.Logf("in %s the attack had %d calls taken, %d refused", took.Round(time.Millisecond), taken, refused)
			if most := attack.most * (1 + max(0, (took-attackFor).Seconds())/attackFor.Seconds()); most > 0 && float64(taken) > most {
				t.Errorf("%d calls were taken, want at most %.0f", taken, most)
			}
			if limited(t, node, attack.refuse) == before {
				t.Errorf("no call was refused by the limit %q", attack.refuse)
			}
		})
	}
}

// innocentPair makes twenty calls a second, without a second try, and some sessions, until the attack met its limit; all have to
// succeed.
func innocentPair(ctx context.Context, t *testing.T, node *harness.Node, met func() bool) {
	once := client.WithRetry(1, client.Backoff{})
	alice, bob := node.Client("alice", once), node.Client("bob", once)
	var slowest time.Duration
	calls := 0
	for begin := time.Now(); time.Since(begin) < attackFor || time.Since(begin) < harness.Slack*attackFor && !met(); calls++ {
		at := time.Now()
		sent, err := alice.Send(ctx, "pair", client.Draft{Body: "hi"})
		if err == nil {
			_, err = bob.Ack(ctx, "pair", sent.ID)
		}
		if err != nil {
			t.Errorf("the innocent pair, call %d: %v", calls, err)
			return
		}
		slowest = max(slowest, time.Since(at))
		if calls%4 == 0 {
			conn, err := dial(node, "")
			if err == nil {
				err = conn.WriteJSON(map[string]string{"op": "hello", "token": harness.Token("bob", "", time.Hour)})
			}
			if err == nil {
				_ = conn.SetReadDeadline(time.Now().Add(harness.Slack * 20 * time.Second))
				_, _, err = conn.ReadMessage()
			}
			if err != nil {
				t.Errorf("the innocent pair, session %d: %v", calls, err)
				return
			}
			_ = conn.Close()
		}
		harness.Pause(ctx, time.Until(at.Add(100*time.Millisecond)))
	}
	t.Logf("the innocent pair: %d rounds, the slowest took %s", calls, slowest)
}

// flood makes calls as fast as they are answered.
type flood struct {
	node  *harness.Node
	token string

	mu      sync.Mutex
	sockets []*websocket.Conn
}

const floodCallers = 30

func (f *flood) while(ctx context.Context, call func() int, do func(context.Context)) (took time.Duration, taken, refused int64) {
	var ok, no atomic.Int64
	begin := time.Now()
	flooding, stop := context.WithCancel(ctx)
	var callers sync.WaitGroup
	for range floodCallers {
		callers.Go(func() {
			for flooding.Err() == nil {
				switch status := call(); {
				case status == http.StatusTooManyRequests:
					no.Add(1)
				case status < 300:
					ok.Add(1)
				}
			}
		})
	}
	do(ctx)
	took = time.Since(begin)
	stop()
	callers.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, conn := range f.sockets {
		_ = conn.Close()
	}
	f.sockets = nil
	return took, ok.Load(), no.Load()
}

func (f *flood) http(method, path, body string) int {
	req, err := http.NewRequestWithContext(context.Background(), method, f.node.URL()+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return 0
	}
	req.Header.Set("Authorization", "Bearer "+f.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

func dial(node *harness.Node, token string) (*websocket.Conn, error) {
	header := http.Header{}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	conn, resp, err := (&websocket.Dialer{Subprotocols: []string{"chatd.v1"}}).Dial("ws"+strings.TrimPrefix(node.URL(), "http")+"/v1/ws", header)
	if err != nil && resp != nil {
		return nil, fmt.Errorf("%w: %s", err, resp.Status)
	}
	return conn, err
}

func (f *flood) socket(token string) int {
	conn, err := dial(f.node, token)
	if err != nil {
		if strings.Contains(err.Error(), "429") {
			return http.StatusTooManyRequests
		}
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.sockets) > 3000 { // bounded: the test shares the machine
		_ = f.sockets[0].Close()
		f.sockets = f.sockets[1:]
	}
	f.sockets = append(f.sockets, conn)
	return http.StatusSwitchingProtocols
}

// limited is how often a limit refused, by the metrics.
func limited(t *testing.T, node *harness.Node, limit string) int {
	t.Helper()
	resp, err := http.Get(node.URL() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`chatd_limited_total\{limit="` + limit + `"\} (\d+)`).FindSubmatch(text)
	if found == nil {
		return 0
	}
	var n int
	_, _ = fmt.Sscan(string(found[1]), &n)
	return n
}
