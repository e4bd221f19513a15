package e2e

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
	"github.com/chatd/chatd/internal/redistest"
)

var caddyFlag = flag.String("caddy", "", "the binary of Caddy: TestRollingRestart runs behind it, too")

// TestRollingRestart restarts three nodes one after another behind the proxies of examples/deploy, while people write
// and read. No client repeats a request, and none fails; nothing is lost or there twice.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	proxies := map[string]func(testing.TB, []*harness.Node) string{"nginx": startNginx}
	if *caddyFlag != "" {
		proxies["caddy"] = startCaddy
	}
	for name, proxy := range proxies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rollingRestart(t, proxy)
		})
	}
}

// TestLongTokensPassTheProxies: a token of 16 KiB, which a node takes, reaches it through the proxies of examples/deploy.
func TestLongTokensPassTheProxies(t *testing.T) {
	t.Parallel()
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_TRUSTED_PROXIES": "127.0.0.1/32"}})
	claims := map[string]any{"sub": "alice", "exp": time.Now().Add(time.Hour).Unix(), "groups": ""}
	sign := func(pad int) string {
		claims["groups"] = strings.Repeat("g", pad)
		return harness.Sign(map[string]any{"alg": "HS256"}, claims, harness.Secret)
	}
	pad := 12_000
	for len(sign(pad+3)) <= 16<<10 { // three bytes of claims are four of the token
		pad += 3
	}
	url := startNginx(t, []*harness.Node{node, node, node})
	request := must(http.NewRequestWithContext(bounded(t, time.Minute), http.MethodGet, url+"/v1/me", http.NoBody))(t)
	request.Header.Set("Authorization", "Bearer "+sign(pad))
	answer := must(http.DefaultClient.Do(request))(t)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("got %s for a token of %d bytes", answer.Status, len(sign(pad)))
	}
}

func rollingRestart(t *testing.T, proxy func(testing.TB, []*harness.Node) string) {
	t.Helper()
	const group, writers, each = "g", 4, 2
	ctx := bounded(t, 2*time.Minute)
	redis := redistest.Start(t)
	var nodes []*harness.Node
	for range 3 { // the proxies keep idle connections for 2 s
		env := map[string]string{"CHATD_DRAIN_DELAY": "2500ms", "CHATD_TRUSTED_PROXIES": "127.0.0.1/32"}
		nodes = append(nodes, harness.StartNode(t, harness.Config{Redis: redis.URL(), Env: env}))
	}
	url, once := proxy(t, nodes), client.WithRetry(1, client.Backoff{})
	openFromPage(ctx, t, url)
	draft := client.GroupDraft{ID: group, Keep: new(int64)}
	*draft.Keep = 100_000
	ways := []reader{overStream, overPoll, overSync}
	for i := range writers {
		draft.Members = append(draft.Members, fmt.Sprint("writer", i))
	}
	for i := range each * len(ways) {
		draft.Members = append(draft.Members, fmt.Sprint("reader", i))
	}
	owner := harness.ClientAt(t, url, "owner", once)
	must(owner.CreateGroup(ctx, draft))(t)

	r := &run{t: t, nodes: nodes, keep: map[string]int64{group: *draft.Keep}}
	until, stop := context.WithCancel(ctx)
	r.stop = stop
	for i := range each * len(ways) {
		name := fmt.Sprint("reader", i)
		one := &reading{
			at: []*client.Client{harness.ClientAt(t, url, name, once)}, rand: rand.New(rand.NewPCG(uint64(i), 0)),
			got: &harness.Transcript{Name: name},
		}
		r.readings = append(r.readings, one)
		r.reading.Go(func() {
			if err := ways[i%len(ways)](until, one); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	writing, enough := context.WithCancel(ctx)
	var written sync.WaitGroup
	for i := range writers {
		name := fmt.Sprint("writer", i)
		c := harness.ClientAt(t, url, name, once)
		written.Go(func() {
			for n := 0; writing.Err() == nil; n++ {
				if err := sendNoted(ctx, c, &r.ledger, group, fmt.Sprintf("%s-%d", name, n)); err != nil {
					t.Errorf("%s, send %d: %v", name, n, err)
				}
				harness.Pause(writing, 5*time.Millisecond)
			}
		})
	}
	for _, node := range nodes {
		before := r.ledger.Count()
		node.Terminate()
		node.Start()
		t.Logf("restarted %s during %d sends", node.Addr, r.ledger.Count()-before)
	}
	enough()
	written.Wait()
	r.caughtUp(ctx, time.Minute)
	for i, one := range r.readings {
		if i%len(ways) == 0 && one.sessions.Load() < 2 {
			t.Errorf("%s was in %d sessions: no restart ended its websocket", one.got.Name, one.sessions.Load())
		}
	}
}

// TestNginxAsInstalled does what proxies are known to break behind nginx with its defaults: websockets of the page, exports
// whose end it does not pass on, and bodies of more than 1 MiB.
func TestNginxAsInstalled(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, time.Minute)
	node := harness.StartNode(t, harness.Config{Nginx: true})
	openFromPage(ctx, t, node.URL())
	ann := node.Client("ann")
	must(ann.CreateGroup(ctx, client.GroupDraft{ID: "g"}))(t)

	content := make([]byte, 3<<20+5)
	for i := range content {
		content[i] = byte(rand.Uint32())
	}
	file := must(ann.UploadFile(ctx, "g", client.FileDraft{Name: "f", Size: int64(len(content))}, bytes.NewReader(content)))(t)
	must(ann.Send(ctx, "g", client.Draft{Files: []string{file}}))(t)
	stored := must(ann.OpenFile(ctx, "g", client.File{ID: file}))(t)
	defer stored.Close()
	if got := must(io.ReadAll(stored))(t); !bytes.Equal(got, content) {
		t.Errorf("downloaded %d other bytes", len(got))
	}

	for range 150 { // more than a page, and more than nginx buffers
		must(ann.Send(ctx, "g", client.Draft{Body: strings.Repeat("x", 8<<10)}))(t)
	}
	last, lines := must(ann.Group(ctx, "g"))(t).Last, int64(0)
	count := func([]byte) error { lines++; return nil }
	end := must(ann.ExportGroup(ctx, "g", client.At(0), count))(t)
	if lines != last {
		t.Errorf("exported %d of %d entries", lines, last)
	}
	must(ann.Send(ctx, "g", client.Draft{Body: "later"}))(t)
	must(ann.ExportGroup(ctx, "g", end, count))(t)
	if lines != last+1 {
		t.Errorf("%d entries behind the end of an export, want 1", lines-last)
	}
	if err := ann.ExportMe(ctx, count); err != nil {
		t.Error(err)
	}
	r := must(http.NewRequestWithContext(ctx, http.MethodGet, node.URL()+"/v1/groups/g/export", nil))(t)
	r.Header.Set("Authorization", "Bearer "+harness.Token("ann", "", time.Hour))
	answer := must(http.DefaultClient.Do(r))(t)
	defer answer.Body.Close()
	body := must(io.ReadAll(answer.Body))(t)
	if answer.Trailer.Get("Chatd-Export-End") != "" || !bytes.Contains(body[max(0, len(body)-200):], []byte("\n{\"end\":\"")) {
		t.Errorf("trailer %v, and in the end %s", answer.Trailer, body[max(0, len(body)-200):])
	}
}

// openFromPage opens a websocket as a page of the site does: it works only if the proxy passes on which host was asked.
func openFromPage(ctx context.Context, t *testing.T, url string) {
	t.Helper()
	dialer := &websocket.Dialer{Subprotocols: []string{"chatd.v1"}}
	conn, answer, err := dialer.DialContext(ctx, "ws"+strings.TrimPrefix(url, "http")+"/v1/ws", http.Header{"Origin": {url}})
	if err != nil {
		t.Fatalf("a websocket from a page of %s: %v, %+v", url, err, answer)
	}
	_ = conn.Close()
}

// sendNoted sends one message and notes its id.
func sendNoted(ctx context.Context, c *client.Client, ledger *harness.Ledger, group, id string) error {
	ledger.Attempt(id)
	sent, err := c.Send(ctx, group, client.Draft{Body: harness.BodyOf(id), ClientID: id})
	if err != nil {
		return err
	}
	return ledger.Acked(group, sent.ID, id)
}

const deployFolder = "../examples/deploy/"

// deployed is a configuration from examples/deploy with the addresses of nodes, and others, in place of the example's.
func deployed(t testing.TB, name string, nodes []*harness.Node, replace ...string) string {
	t.Helper()
	for i, node := range nodes {
		replace = append(replace, fmt.Sprintf("10.0.0.1%d:8080", i+1), node.Addr)
	}
	text := string(must(os.ReadFile(deployFolder + name))(t))
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(text, replace[i]) {
			t.Fatalf("%s does not contain %q", name, replace[i])
		}
	}
	return strings.NewReplacer(replace...).Replace(text)
}

// startNginx starts nginx with the example's configuration, without TLS, and returns its URL.
func startNginx(t testing.TB, nodes []*harness.Node) string {
	t.Helper()
	addr := redistest.FreeAddr(t)
	sites := deployed(t, "nginx.conf", nodes, "listen 443 ssl http2;", "listen "+addr+";",
		"ssl_certificate     /etc/ssl/chat.example.com.pem;", "", "ssl_certificate_key /etc/ssl/chat.example.com.key;", "")
	return harness.StartNginx(t, addr, sites, "worker_connections 768;", "worker_connections 32000;")
}

// startCaddy starts Caddy with the example's configuration, without TLS, and returns its URL.
func startCaddy(t testing.TB, nodes []*harness.Node) string {
	t.Helper()
	addr, path := redistest.FreeAddr(t), filepath.Join(t.TempDir(), "Caddyfile")
	text := deployed(t, "Caddyfile", nodes, "chat.example.com {", "http://"+addr+" {")
	if err := os.WriteFile(path, []byte("{\n\tadmin off\n}\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	harness.StartProxy(t, addr, *caddyFlag, "run", "--adapter", "caddyfile", "--config", path)
	harness.Eventually(t, 20*time.Second, "Caddy reaches a node", func() error {
		_, err := harness.ClientAt(t, "http://"+addr, "owner").Groups(t.Context(), client.Page{})
		return err
	})
	return "http://" + addr
}
