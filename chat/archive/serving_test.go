package archive_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/exports"
	"github.com/chatd/chatd/chat/live"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/queue"
)

// served is a service whose logs go on in an archive in memory. Only catchUp archives.
type served struct {
	*chattest.Bench
	db      *chattest.Archive
	serving *archive.Serving
	live    *live.Service
	caught  int // calls of catchUp
}

// liveStore is what the live part asks: the pages come from the serving.
type liveStore struct {
	live.Store
	pages chat.PullStore
}

func (s liveStore) Pull(ctx context.Context, user string, pulls []chat.Pull) ([]chat.Page, error) {
	return s.pages.Pull(ctx, user, pulls)
}

func newServed(t *testing.T, limits ...func(*chat.Limits)) *served {
	t.Helper()
	var opt chat.Options
	s := &served{db: chattest.NewArchive("test"), Bench: chattest.New(t, func(o *chat.Options) {
		for _, change := range limits {
			change(&o.Limits)
		}
		opt = *o
	})}
	s.Must(s.Store.WantArchive(s.Ctx, "db", time.Hour, true))
	s.serving = archive.Serve(s.Store, s.db, s.catchUp, opt.Limits)
	s.Service = chat.New(s.serving, opt)
	s.live = live.New(s.Service, liveStore{s.Store, s.serving})
	return s
}

// archived is what the ack of the archiver records in the store.
const archived = `
redis.call('HSETNX', KEYS[2], 'archived_from', ARGV[2])
return redis.call('ZADD', KEYS[1], 'GT', ARGV[1], '$archive')`

// catchUp archives a group up to an id: what an archiver does, step by step.
func (s *served) catchUp(ctx context.Context, group string, to int64) error {
	s.caught++
	info, err := s.Info(ctx, "", group)
	if err != nil {
		return err
	}
	from := max(info.Archived+1, info.Held)
	messages, _, err := s.Store.Range(ctx, group, from, int(to-from+1), 0)
	if err != nil {
		return err
	}
	if err := s.db.Add(ctx, []archive.Batch{{Log: archive.Log{Group: group, Epoch: info.Epoch}, Messages: messages, Last: chat.IDMax}}); err != nil {
		return err
	}
	key := fmt.Sprintf("%s:{p%02d}:g:%s:", s.Store.Prefix(), queue.Partition(group, s.Store.Partitions()), group)
	return s.Store.Client().Eval(ctx, archived, []string{key + "seen", key + "meta"}, to, info.Held).Err()
}

// archive archives a group up to an id, and trims what that frees.
func (s *served) archive(group string, to int64) {
	s.T.Helper()
	s.Must(s.catchUp(s.Ctx, group, to))
	s.trim(group)
}

func (s *served) trim(group string) {
	s.T.Helper()
	for more := true; more; {
		var err error
		more, err = s.Store.Trim(s.Ctx, group)
		s.Must(err)
	}
}

// seen acks for all of users.
func (s *served) seen(group string, id int64, users ...string) {
	s.T.Helper()
	for _, user := range users {
		_, err := s.Ack(s.Ctx, chattest.As(user), group, chat.At(id))
		s.Must(err)
	}
}

// talk makes a group of ann and bob with texts up to the id last, all of them seen, which keeps 3.
func (s *served) talk(group string, last int64, d chat.GroupDraft) {
	s.T.Helper()
	keep := int64(3)
	if d.ID = group; d.Keep == nil {
		d.Keep = &keep
	}
	s.MakeGroup(d, "ann", "bob")
	s.Must(s.catchUp(s.Ctx, group, 2)) // from here on nothing is trimmed that is not archived
	for id := int64(3); id <= last; id++ {
		s.Say("ann", group, fmt.Sprintf("text %d", id))
	}
	s.seen(group, last, "ann", "bob")
}

// lines says of a batch where it lies, and what its messages read like.
func (s *served) lines(b chat.Batch) string {
	s.T.Helper()
	var ids []string
	for i, m := range b.Messages {
		if m.ID != b.From+int64(i) {
			s.T.Fatalf("%d..%d has %d at place %d", b.From, b.To, m.ID, i)
		}
		ids = append(ids, fmt.Sprint(m.ID))
	}
	return fmt.Sprintf("%s of %d..%d complete %v more %v", strings.Join(ids, ","), b.First, b.Last, b.Complete, b.HasMore)
}

func (s *served) after(user, group, after string, limit int) string {
	s.T.Helper()
	return s.lines(s.PullFrom(user, group, after, limit))
}

func (s *served) before(user, group string, before int64, limit int) string {
	s.T.Helper()
	b, _, err := s.Pull(s.Ctx, chattest.As(user), group, chat.PullQuery{Before: &before, Limit: limit})
	s.Must(err)
	return s.lines(b)
}

func (s *served) equal(got, want any) {
	s.T.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		s.T.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestPagesCrossTheBorder(t *testing.T) {
	s := newServed(t)
	s.talk("g", 12, chat.GroupDraft{})
	s.archive("g", 10)
	info, err := s.Info(s.Ctx, "ann", "g")
	s.Must(err)
	s.equal([]int64{info.First, info.Held, info.Last, info.Archived}, []int64{1, 10, 12, 10})

	s.equal(s.after("bob", "g", "0", 100), "1,2,3,4,5,6,7,8,9,10,11,12 of 1..12 complete true more false")
	s.equal(s.after("bob", "g", "0", 4), "1,2,3,4 of 1..12 complete true more true")
	s.equal(s.after("bob", "g", "7", 2), "8,9 of 1..12 complete true more true")
	s.equal(s.after("bob", "g", "7", 3), "8,9,10 of 1..12 complete true more true")
	s.equal(s.after("bob", "g", "8", 9), "9,10,11,12 of 1..12 complete true more false")
	s.equal(s.after("bob", "g", "9", 9), "10,11,12 of 1..12 complete true more false")
	s.equal(s.after("bob", "g", "99", 2), "1,2 of 1..12 complete false more true")

	s.equal(s.before("bob", "g", 99, 2), "11,12 of 1..12 complete true more true")
	s.equal(s.before("bob", "g", 13, 3), "10,11,12 of 1..12 complete true more true")
	s.equal(s.before("bob", "g", 13, 4), "9,10,11,12 of 1..12 complete true more true")
	s.equal(s.before("bob", "g", 11, 4), "7,8,9,10 of 1..12 complete true more true")
	s.equal(s.before("bob", "g", 10, 4), "6,7,8,9 of 1..12 complete true more true")
	s.equal(s.before("bob", "g", 4, 9), "1,2,3 of 1..12 complete true more false")
	s.equal(s.before("bob", "g", 1, 9), " of 1..12 complete true more false")

	// Nothing is held at all.
	zero := int64(0)
	s.talk("none", 6, chat.GroupDraft{Keep: &zero})
	s.archive("none", 6)
	s.equal(s.after("bob", "none", "2", 100), "3,4,5,6 of 1..6 complete true more false")
	s.equal(s.before("bob", "none", 99, 2), "5,6 of 1..6 complete true more true")
	list, err := s.Groups(s.Ctx, chattest.As("bob"), 0, "")
	s.Must(err)
	s.equal(strings.Contains(string(list.Items[0].LastMessage), "text 6"), true)
}

// TestTrimsWhilePagesAreRead trims between the answers of the store and of the archive.
func TestTrimsWhilePagesAreRead(t *testing.T) {
	s := newServed(t)
	s.talk("g", 8, chat.GroupDraft{})
	s.archive("g", 6)
	between := &between{Store: s.db}
	between.read = func() {
		s.Say("ann", "g", "more")
		last := s.Say("ann", "g", "more").ID
		s.seen("g", last, "ann", "bob")
		s.archive("g", last)
	}
	s.Service = chat.New(archive.Serve(s.Store, between, s.catchUp, s.Options().Limits), s.Options())
	s.equal(s.after("bob", "g", "3", 100), "4,5,6,7,8 of 1..8 complete true more false")
	s.equal(s.after("bob", "g", "3", 100), "4,5,6,7,8,9,10 of 1..10 complete true more false")
	s.equal(s.before("bob", "g", 11, 5), "6,7,8,9,10 of 1..12 complete true more true")
}

// TestExportCrossesTheBorder exports a log of which the beginning is in the archive, while it grows and is trimmed before each page
// that comes from there.
func TestExportCrossesTheBorder(t *testing.T) {
	s := newServed(t)
	const last = 350
	s.talk("g", last, chat.GroupDraft{})
	s.archive("g", last-150)
	trims := 0
	serving := archive.Serve(s.Store, &between{Store: s.db, read: func() {
		trims++
		more := s.Say("ann", "g", "more").ID
		s.seen("g", more, "ann", "bob")
		s.archive("g", last-150+int64(trims)*60)
	}}, s.catchUp, s.Options().Limits)
	log, err := exports.New(chat.New(serving, s.Options()), serving).Group(s.Ctx, chattest.As("ann"), "g", "")
	s.Must(err)
	next := int64(1)
	for !log.Done() {
		page, err := log.Next(s.Ctx)
		s.Must(err)
		for _, m := range page {
			if m.ID != next {
				t.Fatalf("got %d, want %d", m.ID, next)
			}
			next++
		}
	}
	info, err := s.Info(s.Ctx, "ann", "g")
	s.Must(err)
	if next != last+1 || trims < 2 || info.Held <= last-150+1 {
		t.Errorf("ends at %d after %d trims, and %d are held from; want %d", next-1, trims, info.Held, last)
	}
}

// between is an archive that has something happen before each page is read.
type between struct {
	archive.Store
	read func()
}

func (b *between) Read(ctx context.Context, log archive.Log, span archive.Span) ([]chat.Message, error) {
	b.read()
	return b.Store.Read(ctx, log, span)
}

func TestArchivedHistoryStaysHidden(t *testing.T) {
	s := newServed(t)
	history := false
	s.talk("g", 8, chat.GroupDraft{History: &history}) // bob joined at 2
	s.talk("later", 8, chat.GroupDraft{History: &history})
	_, _, err := s.PutMember(s.Ctx, chattest.As("ann"), "later", "cyd", "") // 9
	s.Must(err)
	body := "other words"
	_, err = s.Send(s.Ctx, chattest.As("ann"), "later", chat.Content{Kind: chat.Edit, Target: 7, Body: &body}, "") // 10
	s.Must(err)
	for range 5 {
		s.Say("ann", "later", "x")
	}
	s.seen("later", 15, "ann", "bob", "cyd")
	for _, group := range []string{"g", "later"} {
		s.archive(group, 8)
	}
	s.archive("later", 15)
	s.equal(s.after("bob", "g", "0", 3), "2,3,4 of 2..8 complete true more true")
	s.equal(s.after("cyd", "later", "0", 3), "9,10,11 of 9..15 complete true more true")
	s.equal(s.before("cyd", "later", 11, 9), "9,10 of 9..15 complete true more false")
	s.equal(s.At("cyd", "later", 10).Body == nil, true)
	s.equal(*s.At("bob", "later", 10).Body, body)
}

func TestAnotherEpochShowsNothingOfTheOld(t *testing.T) {
	s := newServed(t)
	s.talk("g", 12, chat.GroupDraft{})
	s.archive("g", 12)
	old := s.PullFrom("bob", "g", "4", 1)
	s.Must(s.DeleteGroup(s.Ctx, chattest.As("ann"), "g"))
	s.talk("g", 5, chat.GroupDraft{})
	s.equal(s.after("bob", "g", "0", 9), "1,2,3,4,5 of 1..5 complete true more false")
	s.equal(s.after("bob", "g", old.Cursor, 2), "1,2 of 1..5 complete false more true")
	for id := int64(6); id <= 10; id++ {
		s.Say("ann", "g", "new")
	}
	s.seen("g", 10, "ann", "bob")
	s.archive("g", 10)
	s.equal(*s.At("bob", "g", 3).Body, "text 3")
	s.equal(*s.At("bob", "g", 7).Body, "new")
	s.equal(len(s.db.Logs()), 2)
}

// TestMarksOfArchivedPositions compares a cursor of a log that was rolled back with what the archive has there.
func TestMarksOfArchivedPositions(t *testing.T) {
	s := newServed(t)
	s.talk("g", 12, chat.GroupDraft{})
	s.archive("g", 12)
	cursor := s.PullFrom("bob", "g", "4", 1).Cursor // of 5
	s.equal(s.after("bob", "g", cursor, 2), "6,7 of 1..12 complete true more true")
	other := cursor[:len(cursor)-1] + "!"
	other = strings.Replace(other, "!", map[bool]string{true: "A", false: "B"}[!strings.HasSuffix(cursor, "A")], 1)
	s.equal(s.after("bob", "g", other, 2), "1,2 of 1..12 complete false more true")
}

func TestPagesOfTheArchiveAreBounded(t *testing.T) {
	s := newServed(t, func(l *chat.Limits) { l.PageBytesMax = 4000 })
	keep := int64(3)
	s.MakeGroup(chat.GroupDraft{ID: "g", Keep: &keep}, "ann", "bob")
	s.Must(s.catchUp(s.Ctx, "g", 2))
	for range 10 {
		s.Say("ann", "g", strings.Repeat("x", 1000)) // 3..12
	}
	s.seen("g", 12, "ann", "bob")
	s.archive("g", 12)
	for _, from := range []int64{1, 8} {
		pages, err := s.serving.Pull(s.Ctx, "bob", []chat.Pull{{Group: "g", From: from, Limit: 100}})
		s.Must(err)
		bytes := 0
		for i, m := range pages[0].Messages {
			s.equal(m.ID, from+int64(i))
			bytes += len(m.JSON)
		}
		if bytes < 2000 || bytes > 4100 {
			t.Errorf("from %d: %d messages, %d bytes", from, len(pages[0].Messages), bytes)
		}
	}
	// Both directions reach the end, page by page.
	var ids []int64
	for at := "0"; ; {
		b := s.PullFrom("bob", "g", at, 100)
		for _, m := range b.Messages {
			ids = append(ids, m.ID)
		}
		if at = fmt.Sprint(b.To); !b.HasMore {
			break
		}
	}
	s.equal(ids, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	ids = nil
	for before := int64(13); before > 1; {
		b, _, err := s.Pull(s.Ctx, chattest.As("bob"), "g", chat.PullQuery{Before: &before, Limit: 100})
		s.Must(err)
		for _, m := range slices.Backward(b.Messages) {
			ids = append(ids, m.ID)
		}
		before = b.From
	}
	s.equal(ids, []int64{12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1})
}

func TestAwayArchiveSpoilsNothingElse(t *testing.T) {
	s := newServed(t)
	s.talk("g", 12, chat.GroupDraft{})
	s.talk("h", 4, chat.GroupDraft{})
	s.archive("g", 12)
	s.db.Away(true)
	pull := func(after string) error {
		_, _, err := s.Pull(s.Ctx, chattest.As("bob"), "g", chat.PullQuery{After: &after})
		return err
	}
	s.Refused("a page of the archive", pull("2"), chat.CodeUnavailable)
	s.Must(pull("9"))
	s.Must(pull("10"))
	s.Say("ann", "h", "goes on") // 5
	s.Say("ann", "g", "goes on") // 13
	answer, err := s.live.Sync(s.Ctx, chattest.As("bob"), live.SyncRequest{After: map[string]string{"g": "3", "h": "4"}})
	s.Must(err)
	if len(answer.Groups) != 1 || answer.Groups[0].Group != "h" || len(answer.Errors) != 1 || answer.Errors[0].Group != "g" ||
		answer.Errors[0].Code != chat.CodeUnavailable {
		t.Errorf("got %+v", answer)
	}
	answer, err = s.live.Sync(s.Ctx, chattest.As("bob"), live.SyncRequest{After: map[string]string{"h": "5"}})
	s.Must(err)
	s.equal(s.lines(answer.Groups[0]), "13 of 1..13 complete true more false")
	s.db.Away(false)
	s.Must(pull("2"))
	answer, err = s.live.Sync(s.Ctx, chattest.As("bob"), live.SyncRequest{After: map[string]string{"g": "3", "h": "5"}, Limit: 8})
	s.Must(err)
	s.equal(s.lines(answer.Groups[0]), "4,5,6,7,8,9,10,11 of 1..13 complete true more true")
}

// TestHoleInTheArchive is never served as if nothing were missing.
func TestHoleInTheArchive(t *testing.T) {
	s := newServed(t)
	s.talk("g", 12, chat.GroupDraft{})
	s.archive("g", 12)
	info, err := s.Info(s.Ctx, "ann", "g")
	s.Must(err)
	if _, err := s.db.Drop(s.Ctx, archive.Log{Group: "g", Epoch: info.Epoch}, 4); err != nil {
		t.Fatal(err)
	}
	after := "2"
	_, _, err = s.Pull(s.Ctx, chattest.As("bob"), "g", chat.PullQuery{After: &after})
	s.Refused("a page with a hole", err, chat.CodeInternal)
	s.equal(s.after("bob", "g", "5", 2), "6,7 of 1..12 complete true more true")
}

// TestReactionsOfArchivedMessages are counted by the archive, those of what is held by the store.
func TestReactionsOfArchivedMessages(t *testing.T) {
	s := newServed(t)
	s.talk("g", 8, chat.GroupDraft{})
	react := func(user string, target int64, emoji string) {
		t.Helper()
		_, err := s.Send(s.Ctx, chattest.As(user), "g", chat.Content{Kind: chat.Reaction, Target: target, Emoji: ":" + emoji + ":"}, "")
		s.Must(err)
	}
	react("bob", 5, "a") // 9
	react("ann", 5, "a") // 10
	react("bob", 8, "b") // 11
	s.seen("g", 11, "ann", "bob")
	before := int64(9)
	counts := func() string {
		t.Helper()
		_, views, err := s.Pull(s.Ctx, chattest.As("bob"), "g", chat.PullQuery{Before: &before, Limit: 5})
		s.Must(err)
		var lines []string
		for _, v := range views {
			if len(v.Reactions) > 0 {
				lines = append(lines, fmt.Sprint(v.ID, v.Reactions))
			}
		}
		return strings.Join(lines, " ")
	}
	want := "5 map[:a::{2 true}] 8 map[:b::{1 true}]"
	s.equal(counts(), want)
	s.archive("g", 7)
	s.equal(counts(), want)
	s.archive("g", 11)
	s.equal(counts(), want)
}

// TestChangesOfWhatIsTrimmedLater: the target was held when it was changed, and trimmed before its change was archived.
func TestChangesOfWhatIsTrimmedLater(t *testing.T) {
	s := newServed(t)
	s.talk("g", 8, chat.GroupDraft{})
	s.Must(s.catchUp(s.Ctx, "g", 8))
	body := "other words"
	_, err := s.Send(s.Ctx, chattest.As("ann"), "g", chat.Content{Kind: chat.Edit, Target: 4, Body: &body}, "") // 9
	s.Must(err)
	s.seen("g", 9, "ann", "bob")
	s.trim("g")
	info, err := s.Info(s.Ctx, "ann", "g")
	s.Must(err)
	s.equal([]int64{info.Held, info.Archived, info.Changed}, []int64{7, 8, 9})
	s.caught = 0
	s.equal(*s.At("bob", "g", 4).Body, body)
	s.equal(*s.At("bob", "g", 4).Body, body)
	s.equal(s.caught, 1)
}

// TestEditsDeletedBeforeTheyAreArchived: an archived message that was edited and deleted since reads as it did in the store.
func TestEditsDeletedBeforeTheyAreArchived(t *testing.T) {
	s := newServed(t)
	s.talk("g", 8, chat.GroupDraft{})
	s.Must(s.catchUp(s.Ctx, "g", 8))
	s.Must(err0(s.late("ann", "g", edit(4, "other words"))))                     // 9
	s.Must(err0(s.late("ann", "g", chat.Content{Kind: chat.Delete, Target: 4}))) // 10
	held := s.At("bob", "g", 4)
	s.equal([]bool{held.EditedAt != nil, held.DeletedAt != nil}, []bool{false, true}) // a tombstone keeps no time of edits
	s.seen("g", 10, "ann", "bob")
	s.archive("g", 10)
	s.equal(string(chat.Encode(s.At("bob", "g", 4))), string(chat.Encode(held)))
}
