package dump_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/pins"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/redistest"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/dump"
)

// TestWhatHasEndedIsNotExported: messages whose time has come, and that no server has deleted yet, leave without what they said. Their
// counts and their ends are carried, so the other store deletes them.
func TestWhatHasEndedIsNotExported(t *testing.T) {
	const secret = "xyzzy"
	past := time.Now().Add(-2 * time.Hour).UnixMilli()
	b := chattest.New(t, func(o *chat.Options) { o.Now = func() int64 { return past } })
	b.MakeGroup(chat.GroupDraft{ID: "g"}, "alice", "bob")
	text := func(body string, lives int64) chat.Content {
		return chat.Content{Kind: chat.Text, Body: &body, ExpireS: lives}
	}
	send := func(c chat.Content) int64 {
		sent, err := b.Send(b.Ctx, chattest.As("alice"), "g", c, "")
		b.Must(err)
		return sent.ID
	}
	said := text(secret, 3600)
	said.Mentions, said.ClientID = []string{"bob"}, secret
	ended := send(said)
	data := chat.Content{Kind: chat.Data, Data: []byte(`{"x":"` + secret + `"}`), Thread: ended, ExpireS: 60}
	reply := send(data)
	open := text(secret+" and more", 60)
	open.Stream = chat.StreamOpen
	written := send(open)
	b.Must(pins.New(b.Service, b.Store, b.Store).Pin(b.Ctx, chattest.As("alice"), "g", ended))
	stays := send(text("stays", 24*3600))
	it := chat.ItemOf(chat.ItemDirect, "alice", text(secret, 60), past)
	_, _, _, err := b.Store.InboxAppend(b.Ctx, chat.NewDirect("bob", it))
	b.Must(err)

	db := archived(t, 0)
	id, err := db.ID(t.Context())
	must(t, err)
	must(t, b.Store.SwitchArchive(t.Context(), id, true))
	end := chat.TimeMs(past + 60_000)
	was := chat.Entry{ID: 1, Group: "old", From: "alice", Content: text(secret, 0), SentAt: chat.TimeMs(past), ExpiresAt: &end}
	edit := chat.Entry{ID: 2, Group: "old", From: "alice", Content: chat.Content{Kind: chat.Edit, Target: 1, Body: was.Body}, SentAt: chat.TimeMs(past), ExpiresAt: &end}
	must(t, db.Add(t.Context(), []archive.Batch{{Log: archive.Log{Group: "old", Epoch: "e1"}, Last: chat.IDMax, Messages: []chat.Message{
		{ID: 1, Mark: "mark01", JSON: chat.Encode(was)}, {ID: 2, Mark: "mark02", JSON: chat.Encode(edit)}}}}))

	file := export(t, b.Store, dump.Options{Archive: db})
	unpacked, err := zstd.NewReader(bytes.NewReader(file))
	must(t, err)
	defer unpacked.Close()
	all, err := io.ReadAll(unpacked)
	must(t, err)
	if got := string(all); strings.Contains(got, secret) || !strings.Contains(got, "stays") {
		at := max(0, strings.Index(got, secret))
		t.Errorf("what has ended is in the file: …%s", got[max(0, at-200):min(len(got), at+200)])
	}
	to, again := openFor(t, file, store.Options{URL: redistest.Start(t).URL()}), archived(t, 0)
	must(t, load(t, to, file, dump.Options{Archive: again}))
	healthy(t, "the other store", to, again.ID)
	for _, s := range []*store.Store{b.Store, to} {
		infos, err := s.Infos(t.Context(), "bob", []string{"g"})
		must(t, err)
		due, err := s.Due(t.Context(), "g", infos[0].Epoch, 10)
		must(t, err)
		if len(due) != 3 || infos[0].MentionsUnread != 1 || infos[0].Last != stays {
			t.Errorf("%d have to go, of %+v", len(due), infos[0])
		}
		counts, err := s.ReplyCounts(t.Context(), "g", []int64{ended})
		must(t, err)
		if counts[ended].LastID != reply {
			t.Errorf("replies: got %+v", counts)
		}
		_, streams, err := s.OpenStreams(t.Context(), "g", written)
		must(t, err)
		if len(streams) != 1 || len(streams[0].Text) != len(*open.Body) {
			t.Errorf("what is being written: got %+v", streams)
		}
	}
}
