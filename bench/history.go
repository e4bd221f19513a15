package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	sqlarchive "github.com/chatd/chatd/store/archive"
)

var messages = flag.Int("messages", 100_000, "how many messages the archive grows to, in tens of what it begins with")

const (
	historyFirst = 10_000 // messages of the smallest archive; each further one has ten times as many
	historyEach  = 1_000  // messages of a group
	historyOwn   = 10     // groups of a usual caller
	historyBatch = 100
	historyReads = 500
	historyFor   = 2 * time.Second // at most, of one kind of read
	historyEpoch = "0123456789abcdef"
	historyBegan = 1_700_000_000_000 // ms
)

// texts makes bodies of 200 bytes of words as people use them: few are common, many are rare.
type texts struct{ common *rand.Zipf }

func newTexts(seed uint64) texts {
	return texts{rand.NewZipf(rand.New(rand.NewPCG(seed, 1)), 1.1, 4, 50_000)}
}

// word is the one of a rank: 0 is the most common.
func word(rank uint64) string { return fmt.Sprintf("w%x", rank*2654435761%(1<<32)) }

func (t texts) body() string {
	const size = 200
	var text strings.Builder
	for text.Len() < size-12 {
		text.WriteString(word(t.common.Uint64()) + " ")
	}
	text.WriteString(strings.Repeat("x", size-text.Len()))
	return text.String()
}

// history is an archive that grows by groups.
type history struct {
	b      *bench
	name   string
	store  *sqlarchive.Store
	groups int
	first  map[string]time.Duration // median of each read in the smallest archive
}

func logNamed(group int) archive.Log {
	return archive.Log{Group: "group-" + strconv.Itoa(group), Epoch: historyEpoch}
}

// histories measures pages and searches while an archive grows, and with many messages in one group.
func histories(b *bench) error {
	b.table.section(fmt.Sprintf("history: messages of 200 bytes, %d in a group; pages of 50, searches for 20 hits", historyEach))
	for _, db := range b.databases() {
		if err := b.history(db); err != nil {
			return fmt.Errorf("%s: %w", db.name, err)
		}
	}
	return nil
}

func (b *bench) history(db database) error {
	s, err := sqlarchive.Open(b.ctx, db.url)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	h := &history{b: b, name: db.name, store: s, first: map[string]time.Duration{}}
	for tenfolds, n := 0, historyFirst; n <= max(*messages, historyFirst); tenfolds, n = tenfolds+1, n*10 {
		if err := h.grow(scaled(n / historyEach)); err != nil {
			return err
		}
		if err := db.prepare(); err != nil {
			return err
		}
		size, err := db.size()
		if err != nil {
			return err
		}
		b.table.count(h.row("on disk, with the index of words"), "%d B a message", size/h.total())
		if err := h.read(tenfolds); err != nil {
			return err
		}
	}
	return h.oneGroup(db, h.total()/5)
}

func (h *history) total() int64 { return int64(h.groups) * historyEach }

// row names what is measured at this size.
func (h *history) row(what string) string {
	return fmt.Sprintf("%s, %d messages: %s", h.name, h.total(), what)
}

// add gives groups the messages behind from up to to, a batch of each group after the other, as time goes on.
func (h *history) add(groups []int, from, to, batch int64) error {
	const together = 10 // groups of a call
	for low := from; low < to; low += batch {
		_, err := parallel((len(groups)+together-1)/together, 8, func(part int) error {
			var batches []archive.Batch
			for _, g := range groups[part*together : min((part+1)*together, len(groups))] {
				batches = append(batches, batchOf(g, low, min(low+batch, to)))
			}
			return h.store.Add(h.b.ctx, batches)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func batchOf(group int, low, high int64) archive.Batch {
	t := newTexts(uint64(group)<<32 + uint64(low))
	batch := archive.Batch{Log: logNamed(group), Last: chat.IDMax}
	for id := low + 1; id <= high; id++ {
		body := t.body()
		e := chat.Entry{ID: id, Group: batch.Group, From: "user-" + strconv.FormatInt(id%10, 10), Content: chat.Content{Kind: chat.Text, Body: &body},
			SentAt: chat.TimeMs(historyBegan + id*historyEach + int64(group))}
		batch.Messages = append(batch.Messages, chat.Message{ID: id, Mark: "abcdef", JSON: chat.Encode(e)})
	}
	return batch
}

// grow fills further groups.
func (h *history) grow(groups int) error {
	var further []int
	for g := h.groups; g < groups; g++ {
		further = append(further, g)
	}
	began := time.Now()
	if err := h.add(further, 0, historyEach, historyBatch); err != nil {
		return err
	}
	if h.groups = max(h.groups, groups); len(further) > 0 {
		h.b.table.rate(h.row("filled, by the database alone"), float64(len(further)*historyEach)/time.Since(began).Seconds(), 0, "")
	}
	return nil
}

// visible are groups as a member sees them.
func (h *history) visible(groups int) (list []archive.Visible) {
	for i := range min(groups, h.groups) {
		list = append(list, archive.Visible{Log: logNamed(i * (h.groups / min(groups, h.groups))), From: 1, To: chat.IDMax})
	}
	return list
}

// read measures a page and searches, when the archive has grown tenfold so many times.
func (h *history) read(tenfolds int) error {
	page := func(i int) error { return h.page(i*31%h.groups, int64(i)*37, historyEach) }
	if err := h.grown("a page", page, tenfolds); err != nil {
		return err
	}
	one, own, all := h.visible(1), h.visible(historyOwn), h.visible(h.groups)
	for _, c := range []struct {
		name    string
		words   func(i int) string
		visible []archive.Visible
	}{
		{fmt.Sprintf("a common word, in %d groups", historyOwn), common, own},
		{"a common word, in all groups", common, all},
		{"a usual word, in 1 group", usual, one},
		{fmt.Sprintf("a usual word, in %d groups", historyOwn), usual, own},
		{"a usual word, in all groups", usual, all},
		{"a rare word, in all groups", rare, all},
		{"a common and a rare word, in all groups", func(i int) string { return common(i) + " " + rare(i) }, all},
	} {
		if err := h.grown("search for "+c.name, h.search(c.words, c.visible), tenfolds); err != nil {
			return err
		}
	}
	return nil
}

func common(i int) string { return word(uint64(i % 5)) }
func usual(i int) string  { return word(uint64(100 + i%100)) }
func rare(i int) string   { return word(uint64(20_000 + i%1000)) }

// page reads a page from somewhere on in a group that has so many messages.
func (h *history) page(group int, where, messages int64) error {
	from := where%max(1, messages-49) + 1
	_, err := h.store.Read(h.b.ctx, logNamed(group), archive.Span{From: from, To: chat.IDMax, Limit: 50, BytesMax: 1 << 20})
	return err
}

func (h *history) search(words func(i int) string, visible []archive.Visible) func(i int) error {
	return func(i int) error {
		_, err := h.store.Search(h.b.ctx, archive.Query{Text: words(i), Visible: visible, Sort: archive.Newest, Limit: 20, BytesMax: 1 << 20})
		return err
	}
}

// grown measures a read, and compares its median with that in the smallest archive.
func (h *history) grown(what string, read func(i int) error, tenfolds int) error {
	median, err := h.measure(h.row(what), read)
	switch {
	case err != nil:
		return err
	case tenfolds == 0:
		h.first[what] = median
	default:
		growth := math.Pow(median.Seconds()/h.first[what].Seconds(), 1/float64(tenfolds))
		h.b.table.compare(growth, "a tenth, median; target 1.3")
	}
	return nil
}

// measure reads one after the other and returns the median.
func (h *history) measure(what string, read func(i int) error) (median time.Duration, err error) {
	var took []time.Duration
	for began := time.Now(); len(took) < scaled(historyReads) && (len(took) == 0 || time.Since(began) < historyFor); {
		start := time.Now()
		if err := read(len(took)); err != nil {
			return 0, fmt.Errorf("%s: %w", what, err)
		}
		took = append(took, time.Since(start))
	}
	h.b.table.spread(what, took)
	return took[len(took)/2], nil // they are sorted now
}

// oneGroup measures with many messages in one more group.
func (h *history) oneGroup(db database, messages int64) error {
	group := h.groups
	if err := h.add([]int{group}, 0, messages, 10*historyBatch); err != nil {
		return err
	}
	if err := db.prepare(); err != nil {
		return err
	}
	one := []archive.Visible{{Log: logNamed(group), From: 1, To: chat.IDMax}}
	all := slices.Concat(one, h.visible(h.groups))
	for _, c := range []struct {
		name string
		read func(i int) error
	}{
		{"a page", func(i int) error { return h.page(group, int64(i)*7919, messages) }},
		{"search for a common word", h.search(common, one)},
		{"search for a usual word", h.search(usual, one)},
		{"search for a rare word", h.search(rare, one)},
		{"search for a usual word, in all groups", h.search(usual, all)},
	} {
		if _, err := h.measure(fmt.Sprintf("%s, %d more in one group: %s", h.name, messages, c.name), c.read); err != nil {
			return err
		}
	}
	return nil
}
