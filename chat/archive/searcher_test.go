package archive_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/chat/archive/tokens"
	"github.com/chatd/chatd/internal/chattest"
	"github.com/chatd/chatd/internal/pgtest"
	sqlarchive "github.com/chatd/chatd/store/archive"
)

// searched is a service with an archive that is searched. Nothing is archived but by its calls.
type searched struct {
	*chattest.Bench
	db       archive.Store
	archiver *archive.Archiver
	*archive.Searcher
	refuse func(group string) error // what catching up answers instead; nil: nothing
}

func newSearched(t *testing.T, db archive.Store) *searched {
	t.Helper()
	var opt chat.Options
	s := &searched{db: db, Bench: chattest.New(t, func(o *chat.Options) { opt = *o })}
	s.archiver = archive.New(s.Store, db, archive.Options{Delay: time.Hour})
	s.Must(s.archiver.Switch(s.Ctx))
	s.Service = chat.New(archive.Serve(s.Store, db, s.archiver.CatchUp, opt.Limits), opt)
	s.Searcher = archive.NewSearcher(s.Service, s.Store, db, s.catchUp)
	return s
}

func (s *searched) catchUp(ctx context.Context, group string, to int64) error {
	if s.refuse != nil {
		if err := s.refuse(group); err != nil {
			return err
		}
	}
	return s.archiver.CatchUp(ctx, group, to)
}

// whole is a page of a search that has seen everything: a slow machine archives it over several searches.
func (s *searched) whole(by chat.Caller, want archive.Search) (archive.Results, error) {
	for {
		found, err := s.Search(s.Ctx, by, want)
		if err != nil || found.IncompleteBefore.IsZero() {
			return found, err
		}
	}
}

// find gives the hits of all pages as group/id.
func (s *searched) find(by chat.Caller, want archive.Search) (hits []string) {
	s.T.Helper()
	for {
		found, err := s.whole(by, want)
		s.Must(err)
		for _, h := range found.Hits {
			hits = append(hits, fmt.Sprint(h.Group, "/", h.ID))
		}
		if found.Next == "" {
			return hits
		}
		want.Cursor = found.Next
	}
}

func (s *searched) finds(by chat.Caller, want archive.Search, hits ...string) {
	s.T.Helper()
	if got := s.find(by, want); !slices.Equal(got, hits) {
		s.T.Errorf("%s searches %+v: %v, want %v", by.User, want, got, hits)
	}
}

// word is a search for a word everywhere.
func word(text string) archive.Search { return archive.Search{Text: text} }

func inGroup(text, group string) archive.Search { return archive.Search{Text: text, Group: group} }

// TestWhoFindsWhat: a message is found by those who may read it now, and by nobody else.
func TestWhoFindsWhat(t *testing.T) {
	s := newSearched(t, chattest.NewArchive("db"))
	no := false
	ann, bob, cyd, dan, op := chattest.As("ann"), chattest.As("bob"), chattest.As("cyd"), chattest.As("dan"), chattest.Operator("op")
	s.MakeGroup(chat.GroupDraft{ID: "open", Visibility: chat.Public}, "ann", "bob") // 1, 2
	s.MakeGroup(chat.GroupDraft{ID: "closed", History: &no}, "ann", "bob")          // 1, 2
	s.MakeGroup(chat.GroupDraft{ID: "two"}, "ann", "bob")                           // 1, 2
	for _, group := range []string{"open", "closed", "two"} {
		s.Say("ann", group, "secret early") // 3
	}
	for _, group := range []string{"open", "closed"} {
		_, _, err := s.PutMember(s.Ctx, ann, group, "cyd", "") // 4
		s.Must(err)
		s.Say("ann", group, "secret late") // 5
	}
	everything := []string{"closed/5", "open/5", "two/3", "closed/3", "open/3"}
	s.finds(ann, word("secret"), everything...)
	s.finds(bob, word("secret"), everything...)
	s.finds(cyd, word("secret"), "closed/5", "open/5", "open/3")
	s.finds(cyd, inGroup("secret", "closed"), "closed/5")
	s.finds(cyd, word("early"), "open/3")
	s.finds(dan, word("secret"))
	s.finds(op, word("secret"))
	for _, group := range []string{"closed", "two", "absent"} {
		_, err := s.Search(s.Ctx, dan, inGroup("secret", group))
		s.Refused("a search in "+group, err, chat.CodeNotFound)
	}
	for _, by := range []chat.Caller{dan, op} {
		_, err := s.Search(s.Ctx, by, inGroup("secret", "open"))
		s.Refused("a search in a public group by "+by.User, err, chat.CodeForbidden)
	}
	_, err := s.Search(s.Ctx, op, inGroup("secret", "closed"))
	s.Refused("a search by an operator", err, chat.CodeForbidden)

	// A member who leaves finds nothing any more, and after coming back what a member of that day may read.
	s.Must(s.RemoveMember(s.Ctx, bob, "closed", "bob")) // 6
	s.Must(s.RemoveMember(s.Ctx, bob, "open", "bob"))   // 6
	s.finds(bob, word("secret"), "two/3")
	_, err = s.Search(s.Ctx, bob, inGroup("secret", "closed"))
	s.Refused("a search by a former member", err, chat.CodeNotFound)
	_, _, err = s.PutMember(s.Ctx, ann, "closed", "bob", "") // 7
	s.Must(err)
	s.finds(bob, inGroup("secret", "closed"))
	s.Say("ann", "closed", "secret again") // 8
	s.finds(bob, word("secret"), "closed/8", "two/3")

	// A change of history holds at once, and another life of a group has nothing of the one before.
	yes := true
	_, err = s.UpdateGroup(s.Ctx, ann, "closed", chat.GroupChange{History: &yes}) // 9
	s.Must(err)
	s.finds(bob, inGroup("secret", "closed"), "closed/8", "closed/5", "closed/3")
	s.Must(s.DeleteGroup(s.Ctx, ann, "two"))
	s.finds(ann, inGroup("secret", "open"), "open/5", "open/3")
	s.finds(ann, word("secret"), "closed/8", "closed/5", "open/5", "closed/3", "open/3")
	s.MakeGroup(chat.GroupDraft{ID: "two"}, "ann", "bob")
	s.finds(ann, inGroup("secret", "two"))
}

// TestHitsReadAsTheyAreNow: also where the archive is behind when the search begins.
func TestHitsReadAsTheyAreNow(t *testing.T) {
	s := newSearched(t, chattest.NewArchive("db"))
	ann := chattest.As("ann")
	s.MakeGroup(chat.GroupDraft{ID: "g"}, "ann") // 1
	s.Say("ann", "g", "apple one")               // 2
	s.Say("ann", "g", "apple two")               // 3
	s.finds(ann, word("apple"), "g/3", "g/2")
	body := "pear"
	_, err := s.Send(s.Ctx, ann, "g", chat.Content{Kind: chat.Edit, Target: 2, Body: &body}, "") // 4
	s.Must(err)
	_, err = s.Send(s.Ctx, ann, "g", chat.Content{Kind: chat.Delete, Target: 3}, "") // 5
	s.Must(err)
	// What is archived before the search fails the first time: the hits tell that it is needed.
	calls := 0
	s.refuse = func(string) error {
		if calls++; calls == 1 {
			return chat.ErrUnavailable
		}
		return nil
	}
	s.finds(ann, word("apple"))
	if calls != 2 {
		t.Errorf("%d calls to catch up", calls)
	}
	s.finds(ann, word("pear"), "g/2")
	_, err = s.Send(s.Ctx, ann, "g", chat.Content{Kind: chat.Delete, Target: 2}, "") // 6
	s.Must(err)
	s.refuse = func(string) error { return chat.ErrUnavailable }
	_, err = s.Search(s.Ctx, ann, word("pear"))
	s.Refused("a hit that cannot be made sure of", err, chat.CodeUnavailable)
	found, err := s.Search(s.Ctx, ann, word("apple")) // nothing to be made sure of
	if err != nil || len(found.Hits) > 0 {
		t.Errorf("no hit: %v, %v", found.Hits, err)
	}
}

// TestWhatIsNotArchivedYet is missing, and the answer says since when.
func TestWhatIsNotArchivedYet(t *testing.T) {
	s := newSearched(t, chattest.NewArchive("db"))
	ann := chattest.As("ann")
	for _, group := range []string{"g", "h", "never"} {
		s.MakeGroup(chat.GroupDraft{ID: group}, "ann")
	}
	s.Say("ann", "g", "apple")
	s.Say("ann", "h", "apple")
	s.finds(ann, word("apple"), "h/2", "g/2")
	later := s.Say("ann", "h", "apple")
	s.Say("ann", "g", "apple")
	s.refuse = func(string) error { return chat.ErrUnavailable }
	found, err := s.Search(s.Ctx, ann, word("apple"))
	s.Must(err)
	if want := later.SentAt.Add(-time.Millisecond); len(found.Hits) != 2 || !found.IncompleteBefore.Equal(want) {
		t.Errorf("%d hits, incomplete before %v, want %v", len(found.Hits), found.IncompleteBefore, want)
	}
	until := found.IncompleteBefore
	for _, complete := range []bool{true, false} {
		found, err = s.Search(s.Ctx, ann, archive.Search{Text: "apple", Until: &until})
		s.Must(err)
		if found.IncompleteBefore.IsZero() != complete {
			t.Errorf("until %v: incomplete before %v", until, found.IncompleteBefore)
		}
		until = until.Add(time.Millisecond)
	}
	s.refuse = nil
	found, err = s.whole(ann, word("apple"))
	s.Must(err)
	if len(found.Hits) != 4 || !found.IncompleteBefore.IsZero() {
		t.Errorf("%d hits, incomplete before %v", len(found.Hits), found.IncompleteBefore)
	}
}

// TestLostEndIsNotFound: what the archive has above what the store of the groups says it has is of a log that was rolled back.
func TestLostEndIsNotFound(t *testing.T) {
	s := newSearched(t, chattest.NewArchive("db"))
	ann := chattest.As("ann")
	g := s.MakeGroup(chat.GroupDraft{ID: "g"}, "ann") // 1
	s.Say("ann", "g", "apple")                        // 2
	s.finds(ann, word("apple"), "g/2")
	ghost := chat.Message{ID: 3, Mark: "ghost", JSON: []byte(`{"id":3,"group":"g","from":"ann","kind":"text","body":"apple"}`)}
	s.Must(s.db.Add(s.Ctx, []archive.Batch{{Log: archive.Log{Group: "g", Epoch: g.Epoch}, Messages: []chat.Message{ghost}, Last: chat.IDMax}}))
	s.finds(ann, word("apple"), "g/2")
}

func TestRefusedSearches(t *testing.T) {
	db := chattest.NewArchive("db")
	s := newSearched(t, db)
	ann := chattest.As("ann")
	s.MakeGroup(chat.GroupDraft{ID: "g"}, "ann")
	at := time.Now()
	before := at.Add(-time.Millisecond)
	for _, c := range []struct {
		want archive.Search
		says string
	}{
		{word(""), "q: name a word"},
		{word("-a"), "q: name a word"},
		{word(`"" *`), "q: name a word"},
		{word(strings.Repeat("a", tokens.QueryMax+1)), "q: at most 1000 characters"},
		{word(strings.Repeat("a ", tokens.TermsMax+1)), "q: at most 32 words"},
		{archive.Search{Text: "a", From: "a b"}, "from: "},
		{archive.Search{Text: "a", Group: "a/b"}, "group: "},
		{archive.Search{Text: "a", Kind: chat.Notice}, "kind: want text or data"},
		{archive.Search{Text: "a", Sort: "oldest"}, "sort: want newest or best"},
		{archive.Search{Text: "a", Limit: -1}, "limit: "},
		{archive.Search{Text: "a", Cursor: "?"}, "cursor: "},
		{archive.Search{Text: "a", Since: &at, Until: &before}, "until: must not be before since"},
	} {
		_, err := s.Search(s.Ctx, ann, c.want)
		s.Refused(c.says, err, chat.CodeInvalid)
		if err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %s", c.want, err, c.says)
		}
	}
	db.Away(true)
	_, err := s.Search(s.Ctx, ann, word("a"))
	s.Refused("a search while the archive is away", err, chat.CodeUnavailable)
	_, err = archive.NewSearcher(s.Service, s.Store, nil, nil).Search(s.Ctx, ann, word("a"))
	s.Refused("a search without an archive", err, chat.CodeNotFound)
}

// slow is an archive whose searches wait.
type slow struct {
	archive.Store
	begun chan struct{}
	end   chan struct{}
}

func (s slow) Search(ctx context.Context, q archive.Query) (archive.Found, error) {
	s.begun <- struct{}{}
	select {
	case <-s.end:
		return s.Store.Search(ctx, q)
	case <-ctx.Done():
		return archive.Found{}, ctx.Err()
	}
}

// TestSearchesTakeTurns: one of a user, and a few of all, so that slow ones leave the database to others.
func TestSearchesTakeTurns(t *testing.T) {
	db := slow{chattest.NewArchive("db"), make(chan struct{}), make(chan struct{})}
	s := newSearched(t, db)
	done := make(chan error)
	search := func(user string) {
		go func() {
			_, err := s.Search(s.Ctx, chattest.As(user), word("a"))
			done <- err
		}()
	}
	search("ann")
	receive(t, "a search begins", db.begun)
	search("ann") // waits for the first
	if err := receive(t, "a search ends", done); chat.CodeOf(err) != chat.CodeUnavailable || !strings.Contains(err.Error(), "too many searches") {
		t.Errorf("a second search of one user: %v", err)
	}
	for _, user := range []string{"bob", "cyd", "dan"} {
		search(user)
		receive(t, "a search begins", db.begun)
	}
	search("eve")
	if err := receive(t, "a search ends", done); chat.CodeOf(err) != chat.CodeUnavailable || !strings.Contains(err.Error(), "too many searches") {
		t.Errorf("a fifth search: %v", err)
	}
	close(db.end)
	for range 4 {
		s.Must(receive(t, "a search ends", done))
	}
	search("eve")
	receive(t, "a search begins", db.begun)
	s.Must(receive(t, "a search ends", done))
	if got := s.Stats(); got.Answered != 5 || got.Busy != 2 || got.TooLong != 0 || got.Failed != 0 || got.Took <= 0 {
		t.Errorf("the counts are %+v, want 5 answered and 2 busy", got)
	}
}

// refusing answers every search with an error.
type refusing struct {
	*chattest.Archive
	err *error
}

func (r refusing) Search(context.Context, archive.Query) (archive.Found, error) {
	return archive.Found{}, *r.err
}

// TestRefusalsAreCounted: an operator sees which searches take too long, and which fail for another reason.
func TestRefusalsAreCounted(t *testing.T) {
	var refusal error
	s := newSearched(t, refusing{chattest.NewArchive("db"), &refusal})
	for _, refusal = range []error{archive.ErrTooLong, chat.ErrUnavailable, chat.ErrUnavailable} {
		if _, err := s.Search(s.Ctx, chattest.As("ann"), word("a")); !errors.Is(err, refusal) {
			t.Errorf("%v, want %v", err, refusal)
		}
	}
	if got := s.Stats(); got.TooLong != 1 || got.Failed != 2 || got.Answered != 0 || got.Busy != 0 {
		t.Errorf("the counts are %+v, want 1 that took too long and 2 that failed", got)
	}
}

// TestPagesStandWhileMessagesArrive: what is sent between two pages does not show up on the second, nor does it displace anything.
func TestPagesStandWhileMessagesArrive(t *testing.T) {
	for _, engine := range engines(t) {
		for _, sort := range []string{archive.Newest, archive.Best} {
			s := newSearched(t, engine(t))
			ann := chattest.As("ann")
			s.MakeGroup(chat.GroupDraft{ID: "g"}, "ann") // 1
			var want []string
			for n := range 10 {
				s.Say("ann", "g", "apple") // 2..11
				want = append([]string{fmt.Sprint("g/", n+2)}, want...)
			}
			q := archive.Search{Text: "apple", Sort: sort, Limit: 3}
			var got []string
			for more := true; more; more = q.Cursor != "" {
				found, err := s.whole(ann, q)
				s.Must(err)
				for _, h := range found.Hits {
					got = append(got, fmt.Sprint(h.Group, "/", h.ID))
				}
				q.Cursor = found.Next
				s.Say("ann", "g", "apple apple apple")
				s.Must(s.archiver.CatchUp(s.Ctx, "g", chat.IDMax))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", sort, got, want)
			}
		}
	}
}

// engines open an archive each.
func engines(t *testing.T) map[string]func(t *testing.T) archive.Store {
	t.Helper()
	open := func(t *testing.T, url string) archive.Store {
		t.Helper()
		db, err := sqlarchive.Open(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	postgres := pgtest.Start(t)
	return map[string]func(t *testing.T) archive.Store{
		"SQLite":     func(t *testing.T) archive.Store { return open(t, "sqlite:"+filepath.Join(t.TempDir(), "archive.db")) },
		"PostgreSQL": func(t *testing.T) archive.Store { return open(t, postgres.Database()) },
	}
}

// finder lets users come and go, write and search, and compares what they find with what they are served page by page.
type finder struct {
	*searched
	rt    *rapid.T
	run   int
	users []string
}

func TestSearchAgainstPages(t *testing.T) {
	checks := map[string]string{"memory": "25", "SQLite": "10", "PostgreSQL": "5"}
	flagged := flag.Lookup("rapid.checks")
	soak := flagged.Value.String() != flagged.DefValue
	if !soak {
		defer func() { _ = flagged.Value.Set(flagged.DefValue) }() // its own default is no error
	}
	all := engines(t)
	all["memory"] = func(*testing.T) archive.Store { return chattest.NewArchive("db") }
	for name, engine := range all {
		t.Run(name, func(t *testing.T) {
			s := newSearched(t, engine(t))
			if !soak {
				if err := flagged.Value.Set(checks[name]); err != nil {
					t.Fatal(err)
				}
			}
			runs := 0
			rapid.Check(t, func(rt *rapid.T) {
				runs++
				f := &finder{searched: s, rt: rt, run: runs}
				for _, user := range []string{"ann", "bob", "cyd"} {
					f.users = append(f.users, fmt.Sprint(user, runs))
				}
				for _, group := range []string{"g", "h"} {
					history := group == "g"
					s.MakeGroup(chat.GroupDraft{ID: f.name(group), History: &history, Keep: new(int64)}, f.users[0])
				}
				rt.Repeat(map[string]func(*rapid.T){"": f.compare, "write": f.write, "write ": f.write, "change": f.change, "come or go": f.comeOrGo,
					"archive": f.archive, "ack": f.ack, "hide history": f.hide, "begin anew": f.renew})
			})
		})
	}
}

func (f *finder) name(group string) string { return fmt.Sprint(group, f.run) }

func (f *finder) pick(t *rapid.T) string {
	return f.name(rapid.SampledFrom([]string{"g", "h"}).Draw(t, "group"))
}

func (f *finder) user(t *rapid.T) chat.Caller {
	return chattest.As(rapid.SampledFrom(f.users).Draw(t, "user"))
}

// may passes over what a user is not allowed at the moment.
func (f *finder) may(t *rapid.T, err error) {
	t.Helper()
	switch chat.CodeOf(err) {
	case "", chat.CodeNotFound, chat.CodeForbidden, chat.CodeConflict, chat.CodeInvalid, chat.CodeOutOfRange:
	default:
		t.Fatal(err)
	}
}

func (f *finder) write(t *rapid.T) {
	c := chat.Content{}
	text := rapid.StringMatching("[ab]{1,2}( [ab]{1,2}){0,3}").Draw(t, "text")
	if rapid.Bool().Draw(t, "data") {
		c.Kind, c.Data = chat.Data, []byte(`{"`+text+`":"`+text+`"}`)
	} else {
		c.Body = &text
	}
	_, err := f.Send(f.Ctx, f.user(t), f.pick(t), c, "")
	f.may(t, err)
}

func (f *finder) change(t *rapid.T) {
	text := rapid.StringMatching("[ab]{1,2}").Draw(t, "text")
	c := chat.Content{Target: rapid.Int64Range(1, 12).Draw(t, "target"), Kind: rapid.SampledFrom([]chat.Kind{chat.Edit, chat.Delete, chat.Reaction}).Draw(t, "kind")}
	switch c.Kind {
	case chat.Edit:
		c.Body = &text
	case chat.Reaction:
		c.Emoji = text
	}
	_, err := f.Send(f.Ctx, f.user(t), f.pick(t), c, "")
	f.may(t, err)
}

func (f *finder) comeOrGo(t *rapid.T) {
	owner, user, group := chattest.As(f.users[0]), rapid.SampledFrom(f.users[1:]).Draw(t, "who"), f.pick(t)
	if _, added, err := f.PutMember(f.Ctx, owner, group, user, ""); err != nil || !added {
		f.may(t, f.RemoveMember(f.Ctx, owner, group, user))
	}
}

func (f *finder) archive(t *rapid.T) {
	f.may(t, f.archiver.CatchUp(f.Ctx, f.pick(t), 1))
}

// ack frees what all have seen to be trimmed.
func (f *finder) ack(t *rapid.T) {
	group := f.pick(t)
	for _, user := range f.users {
		if info, err := f.MayRead(f.Ctx, chattest.As(user), group); err == nil {
			_, err := f.Ack(f.Ctx, chattest.As(user), group, chat.At(info.Last))
			f.may(t, err)
		}
	}
	for more := true; more; {
		var err error
		more, err = f.Store.Trim(f.Ctx, group)
		f.may(t, err)
	}
}

func (f *finder) hide(t *rapid.T) {
	history := rapid.Bool().Draw(t, "history")
	_, err := f.UpdateGroup(f.Ctx, chattest.As(f.users[0]), f.pick(t), chat.GroupChange{History: &history})
	f.may(t, err)
}

// renew begins another life of a group.
func (f *finder) renew(t *rapid.T) {
	if rapid.IntRange(0, 9).Draw(t, "seldom") > 0 {
		return
	}
	group := f.pick(t)
	f.may(t, f.DeleteGroup(f.Ctx, chattest.As(f.users[0]), group))
	f.MakeGroup(chat.GroupDraft{ID: group, Keep: new(int64)}, f.users[0])
}

func (f *finder) compare(t *rapid.T) {
	by := f.user(t)
	want := archive.Search{Text: rapid.SampledFrom([]string{"a", "b ab", `"a b"`, "a*", "a -b"}).Draw(t, "query"),
		Sort: rapid.SampledFrom([]string{archive.Newest, archive.Best}).Draw(t, "sort"), Limit: rapid.IntRange(1, 5).Draw(t, "limit")}
	if rapid.Bool().Draw(t, "of one") {
		want.From = f.users[0]
	}
	if rapid.Bool().Draw(t, "in one") {
		want.Group = f.pick(t)
	}
	scanned := f.scan(t, by, want)
	found := map[string]string{}
	lastMs := int64(chat.IDMax)
	for more := true; more; more = want.Cursor != "" {
		page, err := f.whole(by, want)
		if err != nil {
			f.may(t, err)
			break
		}
		for _, h := range page.Hits {
			name := fmt.Sprint(h.Group, "/", h.ID)
			if _, twice := found[name]; twice {
				t.Fatalf("%s is found twice", name)
			}
			found[name] = fmt.Sprintf("%s %+v", h.JSON, h.Snippet)
			if ms := sentMs(t, h.JSON); want.Sort == archive.Newest && ms > lastMs {
				t.Fatalf("%s is out of order", name)
			} else {
				lastMs = ms
			}
		}
		want.Cursor = page.Next
	}
	if diff := cmp.Diff(scanned, found); diff != "" {
		t.Fatalf("%s searches %+v: %s", by.User, want, diff)
	}
}

func sentMs(t *rapid.T, raw []byte) int64 {
	var e chat.Entry
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	return e.SentAt.UnixMilli()
}

// scan looks for what is wanted in all that a user is served.
func (f *finder) scan(t *rapid.T, by chat.Caller, want archive.Search) map[string]string {
	found := map[string]string{}
	query := tokens.Parse(want.Text)
	for _, group := range []string{f.name("g"), f.name("h")} {
		if want.Group != "" && want.Group != group {
			continue
		}
		after := "0"
		batch, _, err := f.Pull(f.Ctx, by, group, chat.PullQuery{After: &after, Limit: 1000})
		if errors.Is(err, chat.ErrNotFound) {
			continue
		}
		if err != nil || batch.HasMore {
			t.Fatal(batch.HasMore, err)
		}
		for _, m := range batch.Messages {
			var e chat.Entry
			if err := json.Unmarshal(m.JSON, &e); err != nil {
				t.Fatal(err)
			}
			hit, _, ok := archive.Match(archive.Log{Group: group}, m, query)
			if ok && (want.From == "" || want.From == e.From) {
				found[fmt.Sprint(group, "/", m.ID)] = fmt.Sprintf("%s %+v", hit.JSON, hit.Snippet)
			}
		}
	}
	return found
}
