package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/chatd/chatd/client"
)

// portrait is a picture of a face, more or less.
func portrait(t *testing.T, size int, back, face color.RGBA) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, size, size))
	for y := range size {
		for x := range size {
			dx, dy := x-size/2, y-size*4/10
			shoulders := (x-size/2)*(x-size/2)*2+(y-size)*(y-size)*3 < size*size/2
			switch {
			case dx*dx+dy*dy < size*size/25:
				m.SetRGBA(x, y, face)
			case shoulders:
				m.SetRGBA(x, y, color.RGBA{face.R / 2, face.G / 2, face.B / 2, 255})
			default:
				m.SetRGBA(x, y, back)
			}
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// calls gives a person a name.
func calls(t *testing.T, c *client.Client, name string) {
	t.Helper()
	must(c.UpdateMe(bounded(t, browserTimeout), client.ProfileChange{Name: &name}))(t)
}

// TestBrowserFaces: people are shown by their names and pictures wherever they appear, by their ids where two look alike, and a change
// shows without a reload.
func TestBrowserFaces(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	ana, bob, mal := node.Client("u-7351"), node.Client("bob"), node.Client("mallory")
	calls(t, ana, "Ana Silva")
	calls(t, bob, "Bob")
	calls(t, mal, "ANÁ  SILVA")
	me := must(ana.PutAvatar(ctx, portrait(t, 500, color.RGBA{240, 214, 180, 255}, color.RGBA{150, 90, 60, 255})))(t)
	hebrew := "שלום כהן"
	calls(t, node.Client("shalom"), hebrew)
	must(ana.CreateGroup(ctx, client.GroupDraft{ID: "trip", Name: "Weekend trip", Members: []string{"bob", "shalom", "zed"}}))(t)
	root := must(ana.Send(ctx, "trip", client.Draft{Body: "Shall we take the early train, @bob?", Mentions: []string{"bob"}}))(t)
	must(node.Client("zed").Send(ctx, "trip", client.Draft{Body: "I have no name", ReplyTo: root.ID}))(t)
	must(node.Client("shalom").Send(ctx, "trip", client.Draft{Body: "שלום, מה שלומך?"}))(t)

	browser := startBrowser(t)
	page := openPage(t, browser, node, "bob")
	page.fill("input[name=name]", "bob")
	page.enter()
	page.live()
	page.see(shows(".me-name", "Bob"))
	page.open("trip")
	page.see(shows(".author .name", "Ana Silva"))
	page.see(fmt.Sprintf(`document.querySelector(".face img")?.getAttribute("src") === %q && document.querySelector(".face img").naturalWidth === 256`, me.Picture))
	page.see(shows(".message .mention.self", "@Bob"))
	page.see(shows(".quote .name", "Ana Silva"))
	page.see(`document.querySelector(".line.notice").textContent.startsWith("Ana Silva created the group")`)
	page.see(fmt.Sprintf(`document.querySelector(".group-last").textContent.includes(%q)`, hebrew))
	if ids := ask[string](page, `document.querySelector(".pane").innerText`); strings.Contains(ids, "u-7351") {
		t.Errorf("an id shows:\n%s", ids)
	}

	// By the name one mentions, and the id is sent; also in an edit.
	page.fill(".write textarea", "Yes, @ana")
	page.see(`document.querySelector(".offered li[aria-selected=true]")?.dataset.mention === "u-7351"`)
	page.picture(t.TempDir(), "mention")
	page.enter()
	page.see(`document.querySelector(".write textarea").value === "Yes, @Ana Silva "`)
	page.press("and @Bob")
	page.enter()
	page.stands("Yes, @Ana Silva and @Bob")
	last := must(ana.Messages(ctx, "trip", client.Range{Before: 1 << 40}))(t)
	if m := last.Messages[len(last.Messages)-1]; m.Body != "Yes, @u-7351 and @bob" || fmt.Sprint(m.Mentions) != "[u-7351 bob]" {
		t.Errorf("got %q, mentioning %v", m.Body, m.Mentions)
	}
	page.press(kb.ArrowUp)
	page.see(`document.querySelector(".write textarea").value === "Yes, @Ana Silva and @Bob"`)
	page.press("!")
	page.enter()
	page.stands("Yes, @Ana Silva and @Bob!")

	// Two who look alike have their ids beside them, wherever.
	must(ana.PutMember(ctx, "trip", "mallory", ""))(t)
	must(mal.Send(ctx, "trip", client.Draft{Body: "send me the tickets"}))(t)
	page.see(message("send me the tickets") + `?.querySelector(".author").textContent === "ANÁ  SILVA mallory"`)
	page.see(shows(".author .id", "u-7351"))
	page.see(`[...document.querySelectorAll(".line.notice")].some((n) => n.textContent === "Ana Silva (u-7351) added ANÁ  SILVA (mallory)")`)
	calls(t, mal, "Mallory")
	must(mal.Send(ctx, "trip", client.Draft{Body: "hm"}))(t)
	page.see(message("send me the tickets") + `.querySelector(".author").textContent === "Mallory" && !document.querySelector(".author .id")`)

	page.click(`button[aria-label="Members"]`)
	page.see(`document.querySelector("dialog li[data-user=u-7351] img") && document.querySelector("dialog li[data-user=u-7351] .name").textContent === "Ana Silva"`)
	page.picture(picturesDir(t), "faces-members.png")
	page.click(`dialog button[aria-label="Message Ana Silva"]`)
	page.see(shows(".group-title h2", "Ana Silva"))
	page.see(`document.querySelector(".group-head .avatar img") && !document.querySelector(".line.notice")`)
	page.say("Just between us")
	page.see(`document.querySelector(".group-link[aria-current] .group-name").textContent === "Ana Silva"`)
	page.picture(picturesDir(t), "faces-direct.png")
	page.open("trip")
	page.picture(picturesDir(t), "faces.png")
	page.scheme("dark")
	page.frames(2)
	page.picture(picturesDir(t), "faces-dark.png")
	page.size(390, 800)
	page.fits()
	page.picture(picturesDir(t), "faces-phone-dark.png")
	page.scheme("light")
	page.frames(2)
	page.picture(picturesDir(t), "faces-phone.png")
	page.size(1180, 760)

	// Whose profile has not changed is asked for once.
	asked := ask[string](page, `performance.getEntriesByType("resource").map((e) => new URL(e.name).searchParams.get("ids") ?? "").join()`)
	for _, user := range []string{"zed", "shalom"} {
		if n := strings.Count(","+asked+",", ","+user+","); n != 1 {
			t.Errorf("%s was asked for %d times: %s", user, n, asked)
		}
	}
}

// picturesDir is where pictures of a test are kept.
func picturesDir(t *testing.T) string {
	if keep := os.Getenv("CHATD_PICTURES"); keep != "" {
		return keep
	}
	return t.TempDir()
}

// TestBrowserHostileNames: whatever people call themselves, it is text.
func TestBrowserHostileNames(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	eve := node.Client("eve")
	name := `<img src=x onerror=alert(1)>"'&`
	calls(t, eve, name)
	elsewhere := "https://tracker.example/p.png"
	must(eve.UpdateMe(ctx, client.ProfileChange{Picture: &elsewhere}))(t)
	must(eve.CreateGroup(ctx, client.GroupDraft{ID: "g", Members: []string{"bob"}}))(t)
	must(eve.Send(ctx, "g", client.Draft{Body: "hi"}))(t)
	page := newPerson(t, startBrowser(t), node, "bob")
	page.open("g")
	page.see(fmt.Sprintf(`document.querySelector(".author .name")?.textContent === %s`, quoted(name)))
	page.click(`button[aria-label="Members"]`)
	page.see(fmt.Sprintf(`document.querySelector("dialog li[data-user=eve] .name")?.textContent === %s`, quoted(name)))
	if found := ask[bool](page, `document.querySelector(".avatar img, .name img, .line img") !== null`); found {
		t.Error("a picture from elsewhere, or of a name, is in the page")
	}
}

func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// TestBrowserOwnProfile: a person chooses a picture, a name and a status, also from a picture larger than the server takes.
func TestBrowserOwnProfile(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	page := newPerson(t, startBrowser(t), node, "ana")
	noise := image.NewRGBA(image.Rect(0, 0, 900, 900))
	for i := range noise.Pix {
		noise.Pix[i] = uint8(i*i>>3 ^ i*7>>2)
	}
	var large bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&large, noise); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "large.png")
	if err := os.WriteFile(path, large.Bytes(), 0o600); err != nil || large.Len() < 2<<20 {
		t.Fatalf("%d bytes, %v", large.Len(), err)
	}
	page.click(".me-button")
	page.see(`document.querySelector("dialog input[name=own-name]:not(:disabled)")`)
	page.chooseBy(`dialog .profile-face button`, path)
	page.see(`document.querySelector("dialog .profile-face img")?.naturalWidth === 256 && document.querySelector(".me .avatar img")`)
	page.fill("dialog input[name=own-name]", "Ana Silva")
	page.fill("dialog input[name=status]", "on the train")
	page.enter()
	page.see(shows(".me-name", "Ana Silva"))
	page.see(shows("dialog form[name=profile] [role=status]", "Saved."))
	page.picture(picturesDir(t), "you.png")
	page.size(390, 800)
	page.fits()
	page.picture(picturesDir(t), "you-phone.png")
	me := must(node.Client("ana").Me(bounded(t, browserTimeout)))(t)
	if me.Name != "Ana Silva" || me.Status == nil || me.Status.Text != "on the train" || !strings.HasPrefix(me.Picture, "/avatars/") {
		t.Errorf("got %+v", me)
	}
	page.click("dialog button[name=remove-picture]")
	page.see(`!document.querySelector("dialog .profile-face img") && !document.querySelector(".me .avatar img")`)
}
