package e2e

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
)

const pieceMax = 1 << 20 // of an upload: what nginx takes as it is installed

// uploadBox is a proxy between a browser and a server that decides what becomes of an upload.
type uploadBox struct {
	*httptest.Server
	target  string
	pass    http.Handler
	mu      sync.Mutex
	handle  func(w http.ResponseWriter, r *http.Request) // the next PATCH; nil: it passes
	offsets []string                                     // Upload-Offset of every PATCH
}

func newUploadBox(t *testing.T, node *harness.Node) *uploadBox {
	t.Helper()
	to, err := url.Parse(node.URL())
	if err != nil {
		t.Fatal(err)
	}
	pass := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host }}
	b := &uploadBox{target: node.URL(), pass: pass}
	b.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handle := pass.ServeHTTP
		if r.Method == http.MethodPatch {
			b.mu.Lock()
			b.offsets = append(b.offsets, r.Header.Get("Upload-Offset"))
			if b.handle != nil {
				handle, b.handle = b.handle, nil
			}
			b.mu.Unlock()
		}
		handle(w, r)
	}))
	// Where the system lets the buffer of a connection grow to the size of a file, an upload that nobody reads ends all the same.
	b.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		if state != http.StateNew {
			return
		}
		if err := conn.(*net.TCPConn).SetReadBuffer(256 << 10); err != nil {
			t.Error(err)
		}
	}
	b.Start()
	t.Cleanup(func() {
		b.CloseClientConnections()
		b.Close()
	})
	return b
}

// next says what becomes of the next PATCH.
func (b *uploadBox) next(handle func(w http.ResponseWriter, r *http.Request)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.handle = handle
}

// cut passes half of the body on, and breaks the connection.
func (b *uploadBox) cut(_ http.ResponseWriter, r *http.Request) {
	half, err := http.NewRequestWithContext(r.Context(), r.Method, b.target+r.URL.Path, io.LimitReader(r.Body, r.ContentLength/2))
	if err == nil {
		half.Header = r.Header.Clone()
		half.ContentLength = r.ContentLength / 2
		var resp *http.Response
		if resp, err = http.DefaultClient.Do(half); err == nil {
			err = resp.Body.Close()
		}
	}
	if err != nil {
		panic(err)
	}
	panic(http.ErrAbortHandler)
}

// TestPageFiles attaches files in every way, over a connection that breaks, and looks at them and downloads them as another.
func TestPageFiles(t *testing.T) {
	t.Parallel()
	const big = 32 << 20
	node := harness.StartNode(t, harness.Config{Env: map[string]string{
		"CHATD_DEV": "on", "CHATD_FILE_MAX": fmt.Sprint(big), "CHATD_FILES_USER": fmt.Sprint(big + 3<<20)}})
	must(node.Client("alice").CreateGroup(bounded(t, browserTimeout), client.GroupDraft{ID: "g", Name: "Files", Members: []string{"bob"}}))(t)
	box := newUploadBox(t, node)
	start := startBrowser(t)
	alice := openRefused(t, start, strings.Replace(node.SignInURL(), node.URL(), box.URL, 1), "alice")
	alice.fill("input[name=name]", "alice")
	alice.enter()
	alice.isSignedIn("alice")
	bob := newPerson(t, start, node, "bob")
	alice.open("g")
	bob.open("g")

	dir := t.TempDir()
	report := bytes.Repeat([]byte("report "), 300_000)
	put := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}

	// The button. The upload goes on after the connection broke.
	box.next(box.cut)
	alice.choose(put("report.txt", report))
	alice.see(`document.querySelector(".attached [data-phase=whole]")`)
	box.mu.Lock()
	// The browser may repeat the first by itself.
	want := fmt.Sprint([]int{pieceMax / 2, pieceMax * 3 / 2})
	if last := box.offsets[max(0, len(box.offsets)-2):]; fmt.Sprint(last) != want {
		t.Errorf("PATCH began at %v, want %s in the end", box.offsets, want)
	}
	box.mu.Unlock()

	red := image.NewRGBA(image.Rect(0, 0, 1280, 800))
	draw.Draw(red, red.Bounds(), image.NewUniform(color.RGBA{R: 200, A: 255}), image.Point{}, draw.Src)
	var picture bytes.Buffer
	if err := png.Encode(&picture, red); err != nil {
		t.Fatal(err)
	}
	alice.paste("red.png", fmt.Sprintf(`Uint8Array.from(atob(%q), (c) => c.charCodeAt(0))`, base64.StdEncoding.EncodeToString(picture.Bytes())))
	alice.see(`document.querySelectorAll(".attached [data-phase=whole]").length === 2`)

	alice.uploadRefusals(box, put("big.bin", make([]byte, big)))

	// Files and no text.
	alice.do(chromedp.Focus(chromedp.CSS(".write textarea")))
	alice.enter()
	alice.see(`!document.querySelector(".attached") && document.querySelector(".message[data-id]:not([data-pending]) .file")`)
	for _, p := range []*person{alice, bob} {
		p.see(isRed(".message .picture img", 640))
		p.see(shows(".group-link .group-last", map[string]string{"alice": "You", "bob": "alice"}[p.name]+": report.txt, red.png"))
	}
	alice.size(360, 720)
	alice.fits()

	bob.click(`.picture[aria-label="Open picture red.png"]`)
	bob.see(isRed(".viewer > img", 1280))
	bob.click(`dialog button[aria-label="Close"]`)
	if got := bob.download(`.file[title="Download report.txt"]`); !bytes.Equal(got, report) {
		t.Errorf("bob downloads %d other bytes", len(got))
	}
	must(node.Client("alice").Send(bounded(t, waitTimeout), "g", client.Draft{Kind: "delete", Target: ask[int64](alice, `Number(document.querySelector(".message").dataset.id)`)}))(t)
	bob.see(`document.querySelector(".line.deleted") && !document.querySelector(".files")`)
}

// isRed is the expression that an image is there, so many pixels wide, and red in its middle.
func isRed(selector string, width int) string {
	return fmt.Sprintf(`((img) => {
		if (!img?.complete || img.naturalWidth !== %d) return false;
		const c = new OffscreenCanvas(1, 1).getContext("2d");
		c.drawImage(img, -img.naturalWidth / 2, -img.naturalHeight / 2);
		const [red, green, blue] = c.getImageData(0, 0, 1, 1).data;
		return red > 150 && green < 50 && blue < 50;
	})(document.querySelector(%q))`, width, selector)
}

// uploadRefusals drops a file, stops it in its middle, and tries two that the server does not take.
func (p *person) uploadRefusals(box *uploadBox, path string) {
	p.t.Helper()
	release, ended := make(chan struct{}), make(chan error, 1)
	hold := func(_ http.ResponseWriter, r *http.Request) {
		if n, err := io.Copy(io.Discard, r.Body); n != pieceMax || err != nil {
			p.t.Errorf("a piece of %d bytes, %v", n, err)
		}
		<-release
		select {
		case <-r.Context().Done(): // the page has given up
			ended <- nil
		case <-p.ctx.Done():
			ended <- p.ctx.Err()
		}
	}
	box.next(func(w http.ResponseWriter, r *http.Request) { // its progress is told by pieces: the second is held
		box.next(hold)
		box.pass.ServeHTTP(w, r)
	})
	p.drop(path)
	p.see(`((b) => b && b.value > 0 && b.value < b.max)(document.querySelector("progress[aria-label='Upload of big.bin']"))`)
	p.see(`document.querySelector(".send").disabled`)
	p.paste("extra.bin", `new Uint8Array(2 << 20)`)
	p.see(shows(".attached [data-phase=failed] [role=alert]", "Your space for files is full."))
	p.see(`document.querySelector("button[aria-label='Retry extra.bin']")`)
	p.paste("huge.bin", `new Uint8Array((32 << 20) + 1)`)
	p.see(shows(".toast.bad p", "huge.bin is too large. The limit is 32 MB."))
	p.size(360, 720)
	p.fits()
	p.size(1180, 760)
	p.click(`button[aria-label="Remove extra.bin"]`)
	p.click(`button[aria-label="Remove big.bin"]`)
	p.see(`document.querySelectorAll(".attached li").length === 2 && !document.querySelector(".send").disabled`)
	close(release)
	if err := <-ended; err != nil {
		p.t.Errorf("an upload that was removed goes on: %v", err)
	}
}

// choose presses the button for files and picks one in the dialog of the browser.
func (p *person) choose(path string) {
	p.t.Helper()
	p.chooseBy(`button[aria-label="Attach files"]`, path)
}

// chooseBy presses a button that opens the dialog of the browser for files, and picks one.
func (p *person) chooseBy(selector, path string) {
	p.t.Helper()
	opened := chromedp.Events(p.ctx, page.FileChooserOpened)
	if _, err := chromedp.Call(p.ctx, page.SetInterceptFileChooserDialog, page.SetInterceptFileChooserDialogParams{Enabled: true}); err != nil {
		p.t.Fatal(err)
	}
	p.click(selector)
	for e, err := range opened {
		if err == nil {
			_, err = chromedp.Call(p.ctx, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: []string{path}, BackendNodeID: e.BackendNodeID})
		}
		if err != nil {
			p.t.Fatal(err)
		}
		break
	}
}

// paste pastes a file, whose content is an expression, into the place to write.
func (p *person) paste(name, content string) {
	p.t.Helper()
	ask[bool](p, fmt.Sprintf(`(() => {
		const data = new DataTransfer();
		data.items.add(new File([%s], %q));
		return document.querySelector(".write textarea").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
	})()`, content, name))
}

// drop drags a file onto the list of messages and lets go.
func (p *person) drop(path string) {
	p.t.Helper()
	data := &input.DragData{Items: []*input.DragDataItem{}, Files: []string{path}, DragOperationsMask: 1}
	for _, kind := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		if _, err := chromedp.Call(p.ctx, input.DispatchDragEvent, input.DispatchDragEventParams{Type: kind, X: 700, Y: 300, Data: data}); err != nil {
			p.t.Fatal(err)
		}
		if kind == input.DispatchDragEventTypeDragOver {
			p.see(`document.querySelector(".composer[data-over]")`)
		}
	}
	p.see(`!document.querySelector(".composer[data-over]")`)
}

// download presses a button and returns what the browser saves.
func (p *person) download(selector string) []byte {
	p.t.Helper()
	dir, enabled := p.t.TempDir(), true
	progress := chromedp.Events(p.ctx, browser.DownloadProgress)
	if _, err := chromedp.Call(p.ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{Behavior: browser.SetDownloadBehaviorBehaviorAllowAndName,
		BrowserContextID: chromedp.FromContext(p.ctx).BrowserContextID, DownloadPath: dir, EventsEnabled: &enabled}); err != nil {
		p.t.Fatal(err)
	}
	p.click(selector)
	for e, err := range progress {
		if err != nil || e.State == browser.DownloadProgressStateCanceled {
			p.t.Fatalf("the download ended: %v %v", e, err)
		}
		if e.State == browser.DownloadProgressStateCompleted {
			content, err := os.ReadFile(filepath.Join(dir, e.GUID))
			if err != nil {
				p.t.Fatal(err)
			}
			return content
		}
	}
	return nil
}

// TestPageWithoutFiles: where the server keeps no files, nothing offers to attach one.
func TestPageWithoutFiles(t *testing.T) {
	t.Parallel()
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_DEV": "on", "CHATD_FILES": "off"}})
	must(node.Client("alice").CreateGroup(bounded(t, browserTimeout), client.GroupDraft{ID: "g"}))(t)
	alice := newPerson(t, startBrowser(t), node, "alice")
	asked := &traffic{asked: make(map[network.RequestID]string)}
	if err := chromedp.Listen(alice.ctx, asked.hear); err != nil {
		t.Fatal(err)
	}
	alice.open("g")
	alice.say("hello")
	alice.stands("hello")
	alice.paste("a.txt", `"text"`)
	alice.frames(2)
	alice.see(`document.querySelector(".composer") && !document.querySelector("button[aria-label='Attach files']") && !document.querySelector(".attached")`)
	if urls, _, _ := asked.since(); !strings.Contains(strings.Join(urls, "\n"), "/v1/groups/g/files") {
		t.Errorf("the page has not asked whether there are files: %v", urls)
	}
}
