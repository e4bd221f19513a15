package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/internal/harness"
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

// TestPageFaces: people are shown by their names and pictures wherever they appear, by their ids where two look alike, and a change
// shows without a reload.
func TestPageFaces(t *testing.T) {
	t.Parallel()
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	ana, mal := node.Client("u-7351"), node.Client("mallory")
	calls(t, ana, "Ana Silva")
	calls(t, node.Client("bob"), "Bob")
	calls(t, mal, "ANÁ  SILVA")
	me := must(ana.PutAvatar(ctx, portrait(t, 500, color.RGBA{240, 214, 180, 255}, color.RGBA{150, 90, 60, 255})))(t)
	hebrew := "שלום כהן"
	calls(t, node.Client("shalom"), hebrew)
	must(ana.CreateGroup(ctx, client.GroupDraft{ID: "trip", Name: "Weekend trip", Members: []string{"bob", "shalom", "zed"}}))(t)
	root := must(ana.Send(ctx, "trip", client.Draft{Body: "Shall we take the early train, @bob?", Mentions: []string{"bob"}}))(t)
	must(node.Client("zed").Send(ctx, "trip", client.Draft{Body: "I have no name", ReplyTo: root.ID}))(t)
	must(node.Client("shalom").Send(ctx, "trip", client.Draft{Body: "שלום, מה שלומך?"}))(t)

	bob := newPerson(t, startBrowser(t), node, "bob")
	bob.open("trip")
	bob.see(shows(".author .name", "Ana Silva"))
	bob.see(fmt.Sprintf(`document.querySelector(".face img")?.getAttribute("src") === %q && document.querySelector(".face img").naturalWidth === 256`, me.Picture))
	bob.see(shows(".message .mention.self", "@Bob"))
	bob.see(shows(".quote .name", "Ana Silva"))
	bob.see(`document.querySelector(".line.notice").textContent.startsWith("Ana Silva created the group")`)
	bob.see(fmt.Sprintf(`document.querySelector(".group-last").textContent.includes(%q)`, hebrew))
	if ids := ask[string](bob, `document.querySelector(".pane").innerText`); strings.Contains(ids, "u-7351") {
		t.Errorf("an id shows:\n%s", ids)
	}

	// By the name one mentions, chosen or written out, and the id is sent; also in an edit.
	bob.fill(".write textarea", "Yes, @ana")
	bob.see(`document.querySelector(".offered [aria-selected=true]")?.dataset.offer === "u-7351"`)
	bob.enter()
	bob.see(field + `.value === "Yes, @Ana Silva "`)
	bob.press("and @Bob")
	bob.enter()
	bob.stands("Yes, @Ana Silva and @Bob")
	last := must(ana.Messages(ctx, "trip", client.Range{Before: 1 << 40}))(t)
	if m := last.Messages[len(last.Messages)-1]; m.Body != "Yes, @u-7351 and @bob" || fmt.Sprint(m.Mentions) != "[u-7351 bob]" {
		t.Errorf("got %q, mentioning %v", m.Body, m.Mentions)
	}
	bob.press(kb.ArrowUp)
	bob.see(field + `.value === "Yes, @Ana Silva and @Bob"`)
	bob.press("!")
	bob.enter()
	bob.see(message("Yes, @Ana Silva and @Bob!") + `?.querySelector(".meta")?.textContent.includes("edited")`)

	harness.Eventually(t, waitTimeout, "the edit is stored", func() error {
		all := must(ana.Messages(ctx, "trip", client.Range{Before: 1 << 40}))(t).Messages
		if m := all[len(all)-1]; m.Kind != "edit" || m.Body != "Yes, @u-7351 and @bob!" {
			return fmt.Errorf("got %+v", m)
		}
		return nil
	})

	// Two who look alike have their ids beside them, wherever.
	must(ana.PutMember(ctx, "trip", "mallory", ""))(t)
	must(mal.Send(ctx, "trip", client.Draft{Body: "send me the tickets", ReplyTo: root.ID}))(t)
	author := func(text string) string { return message(text) + `?.querySelector(".author")?.textContent` }
	bob.see(author("send me the tickets") + `.startsWith("ANÁ  SILVA mallory ")`)
	bob.see(message("send me the tickets") + `.querySelector(".quote").textContent.startsWith("Ana Silva u-7351")`)
	bob.see(author("Shall we take the early train, @Bob?") + `.startsWith("Ana Silva u-7351 ")`)
	bob.see(`[...document.querySelectorAll(".line.notice")].some((n) => n.textContent === "Ana Silva (u-7351) added ANÁ  SILVA (mallory)")`)
	calls(t, mal, "Mallory")
	must(mal.Send(ctx, "trip", client.Draft{Body: "hm"}))(t)
	bob.see(author("send me the tickets") + `.startsWith("Mallory ") && !document.querySelector(".author .id")`)

	bob.click(`.group-head button[aria-label="Members"]`)
	bob.see(`document.querySelector(".panel li[data-user=u-7351] img") && ` + shows(".panel li[data-user=u-7351] .name", "Ana Silva"))
	bob.menu("u-7351", "Send a message")
	bob.see(shows(".group-title h1", "Ana Silva"))
	bob.see(`document.querySelector(".group-head .avatar img") && !document.querySelector(".line.notice")`)
	bob.say("Just between us")
	bob.see(shows(".group-link[aria-current] .group-name", "Ana Silva"))
	bob.open("trip")
	bob.stands("Yes, @Ana Silva and @Bob!")
	for _, scheme := range []string{"dark", "light"} {
		bob.scheme(scheme)
		bob.frames(2)
		bob.picture(picturesDir(t), "faces-"+scheme+".png")
	}
	bob.size(390, 800)
	bob.fits()
	bob.picture(picturesDir(t), "faces-phone.png")
	bob.size(1180, 760)

	// Whatever people call themselves is text, and no picture comes from elsewhere.
	markup := `<img src=x onerror=alert(1)>"'&`
	must(mal.UpdateMe(ctx, client.ProfileChange{Name: &markup, Picture: new("https://tracker.example/p.png")}))(t)
	must(mal.Send(ctx, "trip", client.Draft{Body: "and now?"}))(t)
	bob.see(author("send me the tickets") + fmt.Sprintf(`.startsWith(%q)`, markup))
	bob.click(`.group-head button[aria-label="Members"]`)
	bob.see(shows(".panel li[data-user=mallory] .name", markup))
	if ask[bool](bob, `document.querySelector("li[data-user=mallory] img, .message[data-from=mallory] img, .name img, .line img, .group-last img") !== null`) {
		t.Error("a picture from elsewhere, or of a name, is in the page")
	}

	// Whose profile has not changed is asked for once.
	asked := ask[string](bob, `performance.getEntriesByType("resource").map((e) => new URL(e.name).searchParams.get("ids") ?? "").join()`)
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
