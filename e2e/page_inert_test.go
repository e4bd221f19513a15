package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chatd/chatd/client"
)

// payloads are texts that become a program where a page takes text for markup, for an address or for code.
var payloads = strings.Split(strings.TrimSpace(`
<script>alert(1)</script>
<ScRiPt>alert(1)</sCrIpT>
<script src=//evil.example/x.js></script>
<script>fetch('/v1/groups')</script>
</script><script>alert(1)</script>
<img src=x onerror=alert(1)>
<img src=x onerror="alert(String.fromCharCode(88,83,83))">
<img src="javascript:alert(1)">
<img/src=x/onerror=alert(1)>
<img src=x:x onerror=eval(atob('YWxlcnQoMSk='))>
<svg onload=alert(1)>
<svg/onload=alert(1)>
<svg><script>alert(1)</script></svg>
<svg><animate onbegin=alert(1) attributeName=x dur=1s>
<svg><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>
<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>
<iframe src="javascript:alert(1)"></iframe>
<iframe srcdoc="<script>alert(1)</script>"></iframe>
<object data="javascript:alert(1)"></object>
<embed src="javascript:alert(1)">
<body onload=alert(1)>
<input autofocus onfocus=alert(1)>
<select autofocus onfocus=alert(1)></select>
<textarea autofocus onfocus=alert(1)></textarea>
<details open ontoggle=alert(1)>x</details>
<video><source onerror=alert(1)></video>
<audio src=x onerror=alert(1)>
<marquee onstart=alert(1)>x</marquee>
<dialog open onclose=alert(1)>x</dialog>
<form action="javascript:alert(1)"><button>x</button></form>
<button formaction="javascript:alert(1)">x</button>
<a href="javascript:alert(1)">x</a>
<a href="data:text/html,<script>alert(1)</script>">x</a>
<a href=" javascript:alert(1)">x</a>
<link rel=stylesheet href=//evil.example/x.css>
<style>*{background:url(//evil.example/x)}</style>
<style>@import '//evil.example/x.css';</style>
<meta http-equiv=refresh content="0;url=javascript:alert(1)">
<base href=//evil.example/>
<template><img src=x onerror=alert(1)></template>
<noscript><p title="</noscript><img src=x onerror=alert(1)>">
<!--><img src=x onerror=alert(1)>-->
<![CDATA[<img src=x onerror=alert(1)>]]>
<?xml version="1.0"?><x onload=alert(1)/>
<div style="width:expression(alert(1))">x</div>
<div style=animation-name:x onanimationstart=alert(1)>x</div>
<p id=app>x</p><p id=location>x</p>
<img name=getElementById><img name=cookie>
" onmouseover="alert(1)
' onfocus='alert(1)' autofocus='
"><img src=x onerror=alert(1)>
'-alert(1)-'
\"-alert(1)//
${alert(1)} {{constructor.constructor('alert(1)')()}}
javascript:alert(1)
JaVaScRiPt:alert(1)
data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==
vbscript:msgbox(1)
https://example.org/"onmouseover="alert(1)
http://example.org/<script>alert(1)</script>
&lt;script&gt;alert(1)&lt;/script&gt; &#60;img src=x onerror=alert(1)&#62;
%3Cscript%3Ealert(1)%3C/script%3E
@bob<img src=x onerror=alert(1)>
__proto__ constructor toString
`), "\n")

// strange finds what only markup from people could have put there.
const strange = `JSON.stringify([...document.querySelectorAll("script:not([type=module]), iframe, object, embed, video, audio, base, math, marquee, template, meta[http-equiv], " +
	"style, link[href*=evil], img:not(.avatar img), svg:not(.icon), [style*=url], #location")].map((e) => e.outerHTML).concat(
	[...document.querySelectorAll("*")].flatMap((e) => e.getAttributeNames().filter((n) => n.startsWith("on")).map((n) => e.tagName + " " + n)),
	[...document.links].filter((a) => !/^https?:$/.test(a.protocol) || (a.target && a.rel !== "noopener noreferrer")).map((a) => a.href)))`

func inert(p *person, where string) {
	p.t.Helper()
	if got := ask[string](p, strange); got != "[]" {
		p.t.Errorf("%s: %s", where, got)
	}
}

// TestPageShowsTextAsText puts programs into every text that people can write, and a text from right to left. The person's page complains
// of each dialog and each refusal of the content security policy, and there must be none.
func TestPageShowsTextAsText(t *testing.T) {
	t.Parallel()
	if len(payloads) < 60 {
		t.Fatalf("%d payloads", len(payloads))
	}
	node := devNode(t)
	ctx := bounded(t, browserTimeout)
	eve := node.Client("eve")
	must(eve.CreateGroup(ctx, client.GroupDraft{ID: "texts", Name: payloads[0], Members: []string{"bob"}}))(t)
	for _, payload := range payloads {
		sent := must(eve.Send(ctx, "texts", client.Draft{Body: payload, Mentions: []string{"bob"}[:min(1, strings.Count(payload, "@bob"))]}))(t)
		if _, err := eve.Send(ctx, "texts", client.Draft{Kind: "reaction", Target: sent.ID, Emoji: payload}); client.CodeOf(err) != client.CodeInvalid {
			t.Errorf("%q is an emoji: got %v", payload, err)
		}
		must(eve.Send(ctx, "texts", client.Draft{Kind: "reaction", Target: sent.ID, Emoji: ":__proto__:"}))(t)
	}
	data, err := json.Marshal(map[string]any{payloads[5]: payloads, "constructor": nil, "__proto__": map[string]any{"type": "img", "props": map[string]any{"src": "x"}}})
	if err != nil {
		t.Fatal(err)
	}
	must(eve.Send(ctx, "texts", client.Draft{Kind: "data", Data: data}))(t)
	must(eve.Send(ctx, "texts", client.Text("**"+payloads[5]+"**\n> "+payloads[1]+"\n```\n"+payloads[2]+"\n```")))(t)
	must(eve.Send(ctx, "texts", client.Text("שלום עולם.")))(t)
	for i, payload := range payloads[:12] {
		must(eve.CreateGroup(ctx, client.GroupDraft{ID: fmt.Sprintf("g%d", i), Name: payload, Members: []string{"bob"}, Visibility: "public"}))(t)
		must(eve.SendDirect(ctx, "bob", client.Direct{Body: payload}))(t)
	}

	bob := newPerson(t, startBrowser(t), node, "bob")
	bob.see(`document.querySelectorAll(".group-link").length === 13`)
	inert(bob, "the list of groups")
	bob.open("texts")
	bob.see(shows(".group-title h1", payloads[0]))
	bob.see(message(payloads[0]))
	bob.scrollUntil(`document.querySelector(".body .code code") && document.querySelector(".message pre.data")`, 4000)
	for i, payload := range payloads {
		if !ask[bool](bob, `!!`+message(payload)) {
			t.Errorf("payload %d is not there as it was written: %s", i, payload)
		}
	}
	bob.see(`document.querySelector(".reaction")`)
	inert(bob, "the messages")
	// The full stop of a text from right to left is at its left.
	bob.see(`(([text]) => {
		const at = (i) => { const r = document.createRange(); r.setStart(text, i); r.setEnd(text, i + 1); return r.getBoundingClientRect().left; };
		return at(text.length - 1) < at(0);
	})([...document.querySelectorAll(".body")].find((b) => b.textContent.startsWith("שלום")).childNodes)`)

	rename := payloads[6]
	must(eve.UpdateGroup(ctx, "texts", client.GroupChange{Name: &rename}))(t)
	bob.see(shows(".group-title h1", rename))
	bob.tool(bob.stands(payloads[5]), "Reply")
	bob.see(fmt.Sprintf(`document.querySelector(".about").textContent.includes(%q)`, payloads[5]))
	bob.say(payloads[1] + " again")
	bob.stands(payloads[1] + " again")
	inert(bob, "a reply")
	bob.click(`.group-head button[aria-label="Members"]`)
	bob.see(`document.querySelector(".panel li[data-user=eve]")`)
	inert(bob, "the members")

	bob.click("[data-view=inbox]")
	bob.see(fmt.Sprintf(`[...document.querySelectorAll(".item-body")].some((i) => i.textContent === %q)`, payloads[11]))
	inert(bob, "the inbox")
	bob.click(`a[aria-label="Browse public groups"]`)
	bob.see(`document.querySelectorAll("[data-public]").length === 12`)
	inert(bob, "the public groups")
}
