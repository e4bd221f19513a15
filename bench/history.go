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

var messages = flag.Int("messages", 100_000, "messages of the largest archive of history, in tens of the smallest one")

const (
	historyFirst = 10_000 // messages of the smallest archive; each further one has ten times as many
	historyEach  = 1_000  // messages of a group
	historyOwn   = 10     // groups of a usual caller
	historyNamed = 50     // messages that have the same name
	historyBatch = 10     // messages of a group that are archived together
	historyReads = 500
	historyFor   = 2 * time.Second // at most, of one kind of read, for each archive
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

// body begins with what is given.
func (t texts) body(first string) string {
	const size = 200
	var text strings.Builder
	text.WriteString(first)
	for text.Len() < size-12 {
		text.WriteString(word(t.common.Uint64()) + " ")
	}
	text.WriteString(strings.Repeat("x", size-text.Len()))
	return text.String()
}

// history is an archive of groups.
type history struct {
	b      *bench
	db     database
	store  *sqlarchive.Store
	groups int
}

func logNamed(group int) archive.Log {
	return archive.Log{Group: "group-" + strconv.Itoa(group), Epoch: historyEpoch}
}

// histories measures pages and searches in archives of several sizes, and with many messages in one group.
func histories(b *bench) {
	b.table.section(fmt.Sprintf("history: messages of 200 bytes, %d in a group; pages of 50, searches for 20 hits", historyEach))
	var sizes []int
	for n := historyFirst; n <= max(*messages, historyFirst); n *= 10 {
		sizes = append(sizes, n)
	}
	for _, kind := range b.databases(len(sizes)) {
		b.history(sizes, kind)
	}
}

func (b *bench) history(sizes []int, databases []database) {
	var archives []*history
	for i, db := range databases {
		s := must(sqlarchive.Open(b.ctx, db.url))
		defer func() { _ = s.Close() }()
		h := &history{b: b, db: db, store: s, groups: scaled(sizes[i] / historyEach)}
		h.fill()
		archives = append(archives, h)
	}
	compareSizes(b, archives)
	largest := archives[len(archives)-1]
	largest.oneGroup(largest.total() / 5)
}

func (h *history) total() int64 { return int64(h.groups) * historyEach }

// row names what is measured in this archive.
func (h *history) row(what string) string {
	return fmt.Sprintf("%s, %d messages: %s", h.db.name, h.total(), what)
}

// fill gives all groups their messages, as time goes on in all of them.
func (h *history) fill() {
	groups := make([]int, h.groups)
	for g := range groups {
		groups[g] = g
	}
	began := time.Now()
	h.add(groups, historyEach, historyBatch)
	h.b.table.rate(h.row("filled, by the database alone"), float64(h.total())/time.Since(began).Seconds(), 0, "")
	h.db.prepare()
	size := h.db.size()
	h.b.table.count(h.row("on disk, with the index of words"), "%d B a message", size/h.total())
}

// add gives groups so many messages, a batch of each group after the other.
func (h *history) add(groups []int, messages, batch int64) {
	const together = 100 // groups of a call
	for low := int64(0); low < messages; low += batch {
		parallel((len(groups)+together-1)/together, 8, func(part int) error {
			var batches []archive.Batch
			for _, g := range groups[part*together : min((part+1)*together, len(groups))] {
				batches = append(batches, h.batch(g, low, min(low+batch, messages)))
			}
			return h.store.Add(h.b.ctx, batches)
		})
	}
}

func (h *history) batch(group int, low, high int64) archive.Batch {
	t := newTexts(uint64(group)<<32 + uint64(low))
	batch := archive.Batch{Log: logNamed(group), Last: chat.IDMax}
	for id := low + 1; id <= high; id++ {
		first := ""
		if group < h.groups {
			first = h.nameOf((id-1)*int64(h.groups)+int64(group)) + " "
		}
		body := t.body(first)
		e := chat.Entry{ID: id, Group: batch.Group, From: "user-" + strconv.FormatInt(id%10, 10), Content: chat.Content{Kind: chat.Text, Body: &body},
			SentAt: chat.TimeMs(historyBegan + id*historyEach + int64(group))}
		batch.Messages = append(batch.Messages, chat.Message{ID: id, Mark: "abcdef", JSON: chat.Encode(e)})
	}
	return batch
}

// names is how many there are: each is in as many messages, whatever the size of the archive.
func (h *history) names() int64 { return h.total() / historyNamed }

// nameOf is the name in a message, by its position in time. The messages that have it are in groups that differ.
func (h *history) nameOf(position int64) string {
	return name((position + 7*(position/h.names())) % h.names())
}

func name(n int64) string { return fmt.Sprintf("n%x", n) }

// visible are groups as a member sees them.
func (h *history) visible(groups int) (list []archive.Visible) {
	for i := range min(groups, h.groups) {
		list = append(list, archive.Visible{Log: logNamed(i * (h.groups / min(groups, h.groups))), From: 1, To: historyEach})
	}
	return list
}

// comparison is a kind of read: what it is, and how it is done in an archive, which returns how many messages it found.
type comparison struct {
	what string
	in   func(h *history) func(i int) (found int, err error)
}

// comparisons are compared between archives. Where not said otherwise, each finds as many messages in each of them.
func comparisons() []comparison {
	list := []comparison{{"a page", func(h *history) func(int) (int, error) {
		return func(i int) (int, error) { return h.page(i*31%h.groups, int64(i)*37, historyEach) }
	}}}
	const all = math.MaxInt
	for _, c := range []struct {
		name   string
		words  func(h *history, i int) string
		groups int
	}{
		{fmt.Sprintf("a common word, in %d groups", historyOwn), common, historyOwn},
		{"a common word, in all groups", common, all},
		{"a usual word, in 1 group", usual, 1},
		{fmt.Sprintf("a usual word, in %d groups", historyOwn), usual, historyOwn},
		{"a usual word, in all groups", usual, all},
		{fmt.Sprintf("a word of %d messages, in all groups", historyNamed), named, all},
		{fmt.Sprintf("a common word and one of %d messages, in all groups", historyNamed), with(common, named), all},
		{"a rare word, whose hits grow, in all groups", rare, all},
		{"a common and a rare word, whose hits grow, in all groups", with(common, rare), all},
	} {
		list = append(list, comparison{"search for " + c.name, func(h *history) func(int) (int, error) {
			visible := h.visible(c.groups)
			return func(i int) (int, error) { return h.search(c.words(h, i), visible) }
		}})
	}
	return list
}

func common(_ *history, i int) string { return word(uint64(i % 5)) }
func usual(_ *history, i int) string  { return word(uint64(100 + i%100)) }
func rare(_ *history, i int) string   { return word(uint64(20_000 + i%1000)) }

// named is one of 200 words in any archive.
func named(h *history, i int) string { return name(int64(i) % 200 * h.names() / 200) }

func with(a, b func(*history, int) string) func(*history, int) string {
	return func(h *history, i int) string { return a(h, i) + " " + b(h, i) }
}

// page reads a page from somewhere on in a group that has so many messages.
func (h *history) page(group int, where, messages int64) (found int, err error) {
	from := where%max(1, messages-49) + 1
	list, err := h.store.Read(h.b.ctx, logNamed(group), archive.Span{From: from, To: chat.IDMax, Limit: 50, BytesMax: 1 << 20})
	return len(list), err
}

func (h *history) search(words string, visible []archive.Visible) (found int, err error) {
	page, err := h.store.Search(h.b.ctx, archive.Query{Text: words, Visible: visible, Sort: archive.Newest, Limit: 20, BytesMax: 1 << 20})
	return len(page.Hits), err
}

// compareSizes reads in the archives in turns, so that what else the machine does is shared by all, and compares the medians with
// those of the smallest one.
func compareSizes(b *bench, archives []*history) {
	for _, r := range comparisons() {
		reads := make([]measured, len(archives))
		for i, h := range archives {
			reads[i].read = r.in(h)
		}
		measureInTurns(reads)
		for i, h := range archives {
			b.table.spread(h.row(r.what+reads[i].hits()), reads[i].took)
			if i > 0 {
				growth := math.Pow(reads[i].median().Seconds()/reads[0].median().Seconds(), 1/float64(i))
				b.table.compare(growth, "a tenth, median; target 1.3")
			}
		}
	}
}

// measured is a read, how long each took, and how many messages it found.
type measured struct {
	read  func(i int) (found int, err error)
	took  []time.Duration
	found []int
}

// hits says how many messages a read found, as the end of a row.
func (m *measured) hits() string {
	slices.Sort(m.found)
	return fmt.Sprintf(" (%d found)", m.found[len(m.found)/2])
}

// median sorts what it took.
func (m *measured) median() time.Duration {
	slices.Sort(m.took)
	return m.took[len(m.took)/2]
}

// measureInTurns does each read once, then each a second time, and so on.
func measureInTurns(reads []measured) {
	for i, began := 0, time.Now(); i < scaled(historyReads) && (i == 0 || time.Since(began) < historyFor*time.Duration(len(reads))); i++ {
		for n := range reads {
			m := &reads[n]
			start := time.Now()
			found := must(m.read(i))
			m.took, m.found = append(m.took, time.Since(start)), append(m.found, found)
		}
	}
}

// oneGroup measures with many messages in one more group.
func (h *history) oneGroup(messages int64) {
	group := h.groups
	h.add([]int{group}, messages, 100*historyBatch)
	h.db.prepare()
	one := []archive.Visible{{Log: logNamed(group), From: 1, To: messages}}
	all := slices.Concat(one, h.visible(h.groups))
	search := func(words func(*history, int) string, visible []archive.Visible) func(i int) (int, error) {
		return func(i int) (int, error) { return h.search(words(h, i), visible) }
	}
	for _, c := range []struct {
		name string
		read func(i int) (int, error)
	}{
		{"a page", func(i int) (int, error) { return h.page(group, int64(i)*7919, messages) }},
		{"search for a common word", search(common, one)},
		{"search for a usual word", search(usual, one)},
		{"search for a rare word", search(rare, one)},
		{"search for a usual word, in all groups", search(usual, all)},
	} {
		reads := []measured{{read: c.read}}
		measureInTurns(reads)
		h.b.table.spread(fmt.Sprintf("%s, %d more in one group: %s%s", h.db.name, messages, c.name, reads[0].hits()), reads[0].took)
	}
}
