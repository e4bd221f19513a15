package sdk

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatd/chatd/internal/jstest"
)

// opened is what js/test/load.js says of a client that was opened over what it had stored.
type opened struct {
	Groups, Items, Transactions, Requests, Records int
	Last                                           string
}

// TestOpeningReadsTheSame opens the client in Chromium over few messages and over ten times as many, without a network: it reads
// the groups and one page, whatever else is stored.
func TestOpeningReadsTheSame(t *testing.T) {
	t.Parallel()
	server, browser := pages(t), jstest.Browser(t)
	fresh := func() {
		t.Helper()
		if err := chromedp.Do(browser, chromedp.Navigate(server.URL)); err != nil {
			t.Fatal(err)
		}
		jstest.Eval[bool](t, browser, `import("/test/load.js").then((load) => { globalThis.load = load; return true; })`)
	}
	const groups, few = 20, 80
	var reads []opened
	for _, each := range []int{few, 10 * few} {
		fresh()
		name := fmt.Sprint("of ", each)
		if stored := jstest.Eval[int](t, browser, fmt.Sprintf(`load.fill(%q, %d, %d)`, name, groups, each)); stored != groups*each {
			t.Fatalf("%d messages are stored, want %d", stored, groups*each)
		}
		fresh()
		read := jstest.Eval[opened](t, browser, fmt.Sprintf(`load.open(%q, true)`, name))
		if want := fmt.Sprintf("group-%d %d", groups-1, each); read.Last != want || read.Groups != groups {
			t.Errorf("it shows %q of %d groups, want %q of %d", read.Last, read.Groups, want, groups)
		}
		read.Last = ""
		reads = append(reads, read)
	}
	if reads[0] != reads[1] || reads[0].Records > groups+100 || reads[0].Requests > 30 {
		t.Errorf("over %d messages it reads %+v, over %d %+v", groups*few, reads[0], 10*groups*few, reads[1])
	}
}

// TestReceivingKeepsMemory receives messages in a page that shows them: only those on the screen are held.
func TestReceivingKeepsMemory(t *testing.T) {
	t.Parallel()
	server, browser := pages(t), jstest.Browser(t)
	if err := chromedp.Do(browser, chromedp.Navigate(server.URL)); err != nil {
		t.Fatal(err)
	}
	jstest.Eval[bool](t, browser, `import("/test/load.js").then((load) => load.receive("live")).then((live) => { globalThis.live = live; return true; })`)
	const warm, more = 1000, 3000
	jstest.Eval[any](t, browser, fmt.Sprintf(`live.more(%d)`, warm)) // the window is full
	before := jstest.Heap(t, browser)
	shown := jstest.Eval[struct{ Items, Last int }](t, browser, fmt.Sprintf(`live.more(%d)`, more))
	after := jstest.Heap(t, browser)
	if shown.Items != 500 || shown.Last != warm+more {
		t.Errorf("%d items are shown, up to %d", shown.Items, shown.Last)
	}
	if grown := after - before; grown > 50*more { // a message itself takes 400 bytes
		t.Errorf("the heap grew by %d bytes over %d messages, from %d", grown, more, before)
	}
	t.Logf("%d bytes, then %d", before, after)
}
