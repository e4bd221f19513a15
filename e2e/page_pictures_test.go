package e2e

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/demo"
	"github.com/chatd/chatd/internal/harness"
)

// differsMax is how far a picture of docs/images may be from what the page shows now, from 0 to 255 on average over thumbnails: times and the
// faces of letters differ between machines, another layout differs by far more.
const differsMax = 8

// TestPagePictures takes the pictures of the README in the world of the demo, and fails where one there shows another page.
// CHATD_PICTURES=1 renews them; look at them then.
func TestPagePictures(t *testing.T) {
	t.Parallel()
	ctx := bounded(t, browserTimeout)
	node := harness.StartNode(t, harness.Config{Env: map[string]string{"CHATD_DEV": "on", "CHATD_EGRESS_ALLOW": "127.0.0.0/8"}})
	receiver := httptest.NewServer(demo.Receiver)
	t.Cleanup(receiver.Close)
	must(0, demo.Begin(ctx, demo.Server{Receiver: receiver.URL, As: func(user string) (*client.Client, error) {
		role := ""
		if user == demo.Operator {
			role = "admin"
		}
		return client.New(node.URL(), client.StaticToken(harness.Token(user, role, time.Hour)))
	}}))(t)
	browser := startBrowser(t)
	pictures := map[string][]byte{}
	dir := t.TempDir()
	take := func(p *person, name string) {
		p.see(`document.fonts.status === "loaded" && [...document.images].every((i) => i.complete)`)
		p.frames(2)
		pictures[name] = p.picture(dir, name)
	}

	alice := openRefused(t, browser, node.SignInURL()+"&user=alice", "alice")
	alice.scheme("light")
	alice.size(1280, 800)
	alice.isSignedIn("alice")
	alice.live()
	alice.refused(false)
	alice.open("trailmap-2")
	alice.see(`document.querySelectorAll(".message").length > 5`)
	take(alice, "page.png")
	alice.scheme("dark")
	alice.click(`.group-head button[aria-label="Members"]`)
	alice.see(`document.querySelectorAll(".panel [data-user]").length >= 5`)
	take(alice, "page-dark.png")
	alice.click(`.panel button[aria-label="Close"]`)
	alice.scheme("light")
	alice.click(".behind-open button")
	alice.see(`document.querySelectorAll(".frame").length > 2`)
	alice.click("input[name=cut]")
	alice.see(`document.querySelector(".link-state").dataset.phase === "waiting"`)
	alice.say("Written while the wire is cut: it is sent once it is back.")
	take(alice, "page-behind-the-scenes.png")
	alice.click("input[name=cut]")
	alice.live()
	alice.click(".behind-open button")

	alice.phone()
	alice.stands("Written while the wire is cut: it is sent once it is back.")
	alice.script(`document.querySelector(".scroller").scrollTop = 1e9`)
	alice.see(`!document.querySelector(".to-end")`)
	alice.fits()
	take(alice, "page-phone.png")

	amina := openRefused(t, browser, node.SignInURL()+"&user=amina", "amina")
	amina.scheme("light")
	amina.size(1280, 800)
	amina.see(`document.querySelector(".rail .me")`)
	amina.live()
	amina.refused(false)
	ask[string](amina, `document.documentElement.dir = "rtl"`)
	amina.open("localization")
	amina.see(`document.querySelectorAll(".message").length > 2`)
	take(amina, "page-right-to-left.png")

	root := operatorPage(t, node, demo.Operator, "admin")
	root.scheme("light")
	root.size(1280, 800)
	root.see(`document.querySelectorAll(".trouble").length > 2`)
	take(root, "page-admin.png")

	for name, shot := range pictures {
		path := filepath.Join("..", "docs", "images", name)
		if os.Getenv("CHATD_PICTURES") != "" {
			if err := os.WriteFile(path, shot, 0o644); err != nil { //nolint:gosec // a picture of the documentation
				t.Error(err)
			}
			continue
		}
		was, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := differ(t, was, shot); d > differsMax {
			t.Errorf("docs/images/%s differs by %.1f, at most %d: renew it by CHATD_PICTURES=1 go test -run TestPagePictures ./e2e, and look at it", name, d, differsMax)
		}
	}
}

// differ compares the thumbnails of two pictures: the mean difference of their cells' brightness, 255 if their sizes differ.
func differ(t *testing.T, a, b []byte) float64 {
	t.Helper()
	one, other := must(png.Decode(bytes.NewReader(a)))(t), must(png.Decode(bytes.NewReader(b)))(t)
	if one.Bounds() != other.Bounds() {
		return 255
	}
	const cells = 24
	var sum float64
	for y := range cells {
		for x := range cells {
			sum += math.Abs(brightness(one, x, y, cells) - brightness(other, x, y, cells))
		}
	}
	return sum / (cells * cells)
}

// brightness is the mean of one of cells × cells parts of a picture, of every third pixel.
func brightness(of image.Image, x, y, cells int) float64 {
	box := of.Bounds()
	var sum, n float64
	for py := box.Dy() * y / cells; py < box.Dy()*(y+1)/cells; py += 3 {
		for px := box.Dx() * x / cells; px < box.Dx()*(x+1)/cells; px += 3 {
			sum += float64(color.GrayModel.Convert(of.At(px, py)).(color.Gray).Y)
			n++
		}
	}
	return sum / n
}
