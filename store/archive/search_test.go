package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
	"github.com/chatd/chatd/internal/harness"
)

// languages are texts, and which of them queries find.
var languages = []struct {
	name  string
	texts []string
	find  map[string][]int64 // by query: the numbers of texts, from 1
}{
	{"Chinese", []string{"今天天气很好", "明天去北京大学", "我喜欢学习"},
		map[string][]int64{"天气": {1}, "北京大学": {2}, "大学": {2}, "天": {1, 2}, "学": {2, 3}, "京北": nil, "今天 好": {1}, "北京 天气": nil}},
	{"Japanese", []string{"東京タワーに行きました", "ｶﾞｿﾘﾝ が高い", "きょうは水曜日"},
		map[string][]int64{"東京": {1}, "タワー": {1}, "ガソリン": {2}, "カソリン": nil, "水": {3}, "日": {3}, "ました": {1}}},
	{"Korean", []string{"안녕하세요 여러분", "회의는 내일입니다"},
		map[string][]int64{"안녕": {1}, "하세요": {1}, "회의": {2}, "내일": {2}, "내": {2}, "의회": nil}},
	{"Thai", []string{"สวัสดีครับทุกคน", "วันนี้อากาศดี"},
		map[string][]int64{"สวัสดี": {1}, "อากาศ": {2}, "ครับ": {1}, "ฝนตก": nil}},
	{"Arabic", []string{"مُحَمَّد في المدرسة", "كتاب جديد"},
		map[string][]int64{"محمد": {1}, "المدرسة": {1}, "المدرسه": {1}, "كِتَاب": {2}, "كتب": nil}},
	{"Hebrew", []string{"שָׁלוֹם עולם", "בוקר טוב"},
		map[string][]int64{"שלום": {1}, "עולם": {1}, "טוב": {2}, "רע": nil}},
	{"German", []string{"Die Straßenbahnhaltestelle in Köln", "Grüße aus der STRASSE"},
		map[string][]int64{"straßenbahnhaltestelle": {1}, "Strassenbahn*": {1}, "köln": {1}, "koln": {1}, "Straße": {2}, "grusse": {2}, "haltestelle": nil}},
	{"Turkish", []string{"İstanbul'da IŞIK", "ısparta ve izmir"},
		map[string][]int64{"istanbul": {1}, "ISTANBUL": {1}, "ışık": {1}, "isik": {1}, "ISPARTA": {2}, "isparta": {2}, "İZMİR": {2}}},
	{"Russian and Greek", []string{"Ещё один чай", "Καλημέρα κόσμε"},
		map[string][]int64{"еще": {1}, "ЧАЙ": {1}, "καλημερα": {2}, "ΚΌΣΜΕ": {2}}},
	{"French and Vietnamese", []string{"L'été à la plage, cœur léger", "Tiếng Việt Đà Nẵng"},
		map[string][]int64{"ete": {1}, "ÉTÉ": {1}, "coeur": {1}, "l'été": {1}, "tieng viet": {2}, "da nang": {2}}},
	{"emoji", []string{"great 👍🏽 work", "👩‍💻 at work", "❤️ it", "👍"},
		map[string][]int64{"👍": {1, 4}, "👍🏿": {1, 4}, "👩‍💻": {2}, "💻": {2}, "❤": {3}, "work 👍": {1}, "🚀": nil}},
	{"code, URLs, e-mail", []string{"see https://example.com/docs/API_v2?x=1#top", "mail ann.b@example.org now", "if (user_name != nil) { return fmt.Errorf(\"%w\", err) }", "C++ and v1.2.3"},
		map[string][]int64{"example.com": {1}, "https://example.com/docs": {1}, "api_v2": {1}, "ann.b@example.org": {2}, "example": {1, 2}, "user_name": {3},
			"fmt.Errorf": {3}, "name user": {3}, `"name user"`: nil, "v1.2.3": {4}, "v1.2.4": nil, "c++": {4}}},
	{"operators", []string{"alpha beta gamma", "beta alpha", "alphabet soup", "AND OR NOT NEAR"},
		map[string][]int64{"alpha": {1, 2}, "alpha*": {1, 2, 3}, `"alpha beta"`: {1}, "alpha -gamma": {2}, `alpha -"beta alpha"`: {1}, "AND": {4}, "or not": {4},
			"alpha OR soup": nil, "NEAR(or not)": nil, `"alpha`: {1, 2}, "words:alpha": nil, "alpha:*": {1, 2}, "alpha'": {1, 2}, "alpha)": {1, 2},
			`alpha\`: {1, 2}, "(alpha & beta) | !gamma": {1}, "^alpha": {1, 2}, "*": nil, "alpha-beta": {1}, "--": nil, "-alpha": nil, "": nil, "l1": nil, ":l1": nil, "kt": nil}},
	{"forms of characters", []string{"ＦＵＬＬ width ﬁne", "e\u0301te\u0301 x²"},
		map[string][]int64{"full": {1}, "ｗｉｄｔｈ": {1}, "fine": {1}, "été": {2}, "x2": {2}}},
}

// pageBytes is more than a page of these tests has.
const pageBytes = 1 << 20

// whole makes all of a log visible.
func whole(log archive.Log) []archive.Visible {
	return []archive.Visible{{Log: log, From: 1, To: 1_000_000}}
}

func testLanguages(t *testing.T, url string) {
	s := open(t, url)
	for _, c := range languages {
		w := newLog(t, s, archive.Log{Group: c.name, Epoch: "e"})
		for _, text := range c.texts {
			w.text("ann", text)
		}
		w.add(1)
		for query, want := range c.find {
			found, err := s.Search(t.Context(), archive.Query{Text: query, Visible: whole(w.log), Limit: 10, BytesMax: pageBytes})
			var got []int64
			for _, h := range found.Hits {
				got = append(got, h.ID)
				if len(h.Snippet.Marks) == 0 {
					t.Errorf("%s: %q: no marks in %q", c.name, query, h.Snippet.Text)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, want) || err != nil && !(errors.Is(err, &chat.Error{Code: chat.CodeInvalid}) && want == nil) {
				t.Errorf("%s: %q finds %v, want %v; %v", c.name, query, got, want, err)
			}
		}
	}
}

func testSearch(t *testing.T, url string) {
	s := open(t, url)
	w := newLog(t, s, aLog)
	for n := range 12 {
		w.text([]string{"ann", "bob"}[n%2], fmt.Sprint("word number ", n+1))
	}
	w.entry("ann", chat.Content{Kind: chat.Data, Data: []byte(`{"word":{"a":["deep",{"b":"word"}],"n":42}}`)})
	w.add(1)
	find := func(q archive.Query) (found []int64, next string) {
		t.Helper()
		q.Visible, q.BytesMax = whole(aLog), pageBytes
		page, err := s.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range page.Hits {
			found = append(found, h.ID)
		}
		return found, page.Next
	}
	for _, c := range []struct {
		query archive.Query
		want  []int64
	}{
		{archive.Query{Text: "word", From: "bob", Limit: 3}, []int64{12, 10, 8}},
		{archive.Query{Text: "word", Kind: chat.Data, Limit: 3}, []int64{13}},
		{archive.Query{Text: "42 deep", Limit: 3}, []int64{13}},
		{archive.Query{Text: "b", Limit: 3}, nil}, // the name of a field
		{archive.Query{Text: "word", SinceMs: firstSentMs + 4000, UntilMs: firstSentMs + 6000, Limit: 9}, []int64{6, 5, 4}},
		{archive.Query{Text: "number", SinceMs: firstSentMs + 12000, Limit: 9}, []int64{12}},
		{archive.Query{Text: "7", Limit: 9}, []int64{7}},
	} {
		if got, _ := find(c.query); !cmp.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.query, got, c.want)
		}
	}
	// Pages hold together while messages come.
	for _, sort := range []string{archive.Newest, archive.Best} {
		var all []int64
		pages(t, func(cursor string) string {
			got, next := find(archive.Query{Text: "number", Sort: sort, Limit: 5, Cursor: cursor, UntilMs: firstSentMs + 12000})
			all = append(all, got...)
			if next != "" {
				w.text("ann", "number number number")
				w.add(int64(len(w.list)))
			}
			return next
		})
		slices.Sort(all)
		if len(all) != 12 || len(slices.Compact(all)) != 12 {
			t.Errorf("%s: the pages have %v", sort, all)
		}
	}
	if got, _ := find(archive.Query{Text: "number", Sort: archive.Best, Limit: 1}); !cmp.Equal(got, []int64{int64(len(w.list))}) {
		t.Errorf("the best is %v", got)
	}
	// Pages end where they have enough bytes, in the same order as before.
	for _, sort := range []string{archive.Newest, archive.Best} {
		want, _ := find(archive.Query{Text: "word", Sort: sort, Limit: 20})
		q, got := archive.Query{Text: "word", Sort: sort, Limit: 20, Visible: whole(aLog), BytesMax: 700}, []int64(nil)
		pages(t, func(cursor string) string {
			q.Cursor = cursor
			page, err := s.Search(t.Context(), q)
			if err != nil || len(page.Hits) == 0 || len(page.Hits) > 5 {
				t.Fatalf("%s: %d hits, %v", sort, len(page.Hits), err)
			}
			for _, h := range page.Hits {
				got = append(got, h.ID)
			}
			return page.Next
		})
		if !cmp.Equal(got, want) {
			t.Errorf("%s: pages of few bytes have %v, want %v", sort, got, want)
		}
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	_, err := s.Search(ctx, archive.Query{Text: "word", Visible: whole(aLog), Limit: 1})
	if !errors.Is(err, chat.ErrUnavailable) || !strings.Contains(err.Error(), "narrow it by group") {
		t.Errorf("a search that takes too long: %v", err)
	}
	for _, cursor := range []string{"?", "1.x", "-1"} {
		for _, sort := range []string{archive.Newest, archive.Best} {
			if _, err := s.Search(t.Context(), archive.Query{Text: "a", Sort: sort, Limit: 1, Cursor: cursor}); chat.CodeOf(err) != chat.CodeInvalid {
				t.Errorf("cursor %q: %v", cursor, err)
			}
		}
	}
}

func testPermission(t *testing.T, url string) {
	s := open(t, url)
	mine, theirs := newLog(t, s, aLog), newLog(t, s, archive.Log{Group: aLog.Group, Epoch: "other"})
	for range 20 {
		mine.text("ann", "secret")
		theirs.text("ann", "secret")
	}
	mine.add(1)
	theirs.add(1)
	for name, visible := range map[string][]archive.Visible{
		"few":  {{Log: aLog, From: 18, To: 19}},
		"many": append(manyLogs(t, s, facetsMax), archive.Visible{Log: aLog, From: 18, To: 19}),
		"none": nil,
	} {
		found, err := s.Search(t.Context(), archive.Query{Text: "secret", Visible: visible, Limit: 2, BytesMax: pageBytes})
		var got []int64
		for _, h := range found.Hits {
			if h.Log != aLog {
				t.Errorf("%s: a hit in %v", name, h.Log)
			}
			got = append(got, h.ID)
		}
		want := []int64{19, 18}
		if visible == nil {
			want = nil
		}
		if !slices.Equal(got, want) || found.Next != "" || err != nil {
			t.Errorf("%s: %v, next %q, %v", name, got, found.Next, err)
		}
	}
}

// findAll pages through a search.
func findAll(t *testing.T, s *Store, q archive.Query) (found []string) {
	t.Helper()
	q.Sort, q.BytesMax = archive.Newest, pageBytes
	pages(t, func(cursor string) string {
		q.Cursor = cursor
		page, err := s.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range page.Hits {
			found = append(found, fmt.Sprint(h.Group, h.ID))
		}
		return page.Next
	})
	return found
}

// manyLogs adds logs that have nothing that is searched for.
func manyLogs(t *testing.T, s *Store, n int) (list []archive.Visible) {
	for i := range n {
		w := newLog(t, s, archive.Log{Group: fmt.Sprint("other", i), Epoch: "e"})
		w.text("ann", "something else")
		w.add(1)
		list = append(list, archive.Visible{Log: w.log, From: 1, To: 1})
	}
	return list
}

func testDeletedWords(t *testing.T, url string) {
	s := open(t, url)
	w := newLog(t, s, aLog)
	hits := func(text string) int {
		t.Helper()
		found, err := s.Search(t.Context(), archive.Query{Text: text, Visible: whole(aLog), Limit: 9, BytesMax: pageBytes})
		if err != nil {
			t.Fatal(err)
		}
		return len(found.Hits)
	}
	w.text("ann", "apple")
	w.text("ann", "pear")
	w.text("ann", "plum")
	w.add(1)
	w.edit("ann", 1, "banana")
	w.add(4)
	if hits("apple") != 0 || hits("banana") != 1 {
		t.Errorf("after an edit: %d, %d", hits("apple"), hits("banana"))
	}
	w.delete("ann", 1)
	w.add(5)
	if _, err := s.Drop(t.Context(), aLog, 2); err != nil {
		t.Fatal(err)
	}
	if hits("banana") != 0 || hits("pear") != 0 || hits("plum") != 1 {
		t.Errorf("after a deletion and a drop: %d, %d, %d", hits("banana"), hits("pear"), hits("plum"))
	}
	if err := newest(s, archive.Batch{Log: aLog, Last: 2}); err != nil || hits("plum") != 0 {
		t.Errorf("after a loss: %d, %v", hits("plum"), err)
	}
}

// testTooLong: a search beyond the bound of its time says what narrows it, and harms no later one.
func testTooLong(t *testing.T, url string) {
	s := open(t, url)
	w := newLog(t, s, aLog)
	w.text("ann", "word")
	w.add(1)
	q := archive.Query{Text: "word", Visible: []archive.Visible{{Log: aLog, From: 1, To: 1}}, Sort: archive.Newest, Limit: 1, BytesMax: 1 << 20}
	s.searchMax = 0
	for _, q.Sort = range []string{archive.Newest, archive.Best} {
		_, err := s.Search(t.Context(), q)
		var refused *chat.Error
		if !errors.As(err, &refused) || refused.Code != chat.CodeUnavailable || !strings.Contains(refused.Advice, "narrow it by group") {
			t.Errorf("%s: %v, want that it takes too long", q.Sort, err)
		}
	}
	s.searchMax = searchTimeout
	if found, err := s.Search(t.Context(), q); err != nil || len(found.Hits) != 1 {
		t.Errorf("the next search finds %v, %v", found.Hits, err)
	}
}

// TestDeletedBytesAreGone looks for the bytes of what was edited, deleted and dropped in the files of SQLite.
func TestDeletedBytesAreGone(t *testing.T) {
	dir := t.TempDir()
	url := "sqlite:" + filepath.Join(dir, "archive.db")
	s := open(t, url)
	w := newLog(t, s, aLog)
	secrets := []string{"xyzzyedited", "plughdeleted", "frotzdropped"}
	for _, word := range secrets {
		for range 50 {
			w.text("ann", word+" "+strings.Repeat("filler ", 20))
		}
	}
	w.text("ann", "stays")
	w.add(1)
	for _, word := range secrets {
		if !inFiles(t, dir, word) {
			t.Fatalf("%s is not in the files: the test would find nothing", word)
		}
	}
	for n := range int64(50) {
		w.edit("ann", n+1, "other")
		w.delete("ann", n+51)
	}
	w.add(152)
	if more, err := s.Drop(t.Context(), archive.Log{Group: aLog.Group, Epoch: aLog.Epoch}, 0); more || err != nil {
		t.Fatal(err)
	}
	if err := newest(s, archive.Batch{Log: aLog, Last: 100}); err != nil {
		t.Fatal(err)
	}
	s.writer.scrub()
	for _, word := range secrets {
		if inFiles(t, dir, word) {
			t.Errorf("%s is in the files", word)
		}
	}
}

// TestDeletedBytesAreGoneAfterACrash copies the files as a process leaves them that is killed right after a deletion.
func TestDeletedBytesAreGoneAfterACrash(t *testing.T) {
	const secret = "xyzzydeleted"
	var crashed string
	for crashed == "" || !inFiles(t, crashed, secret) { // on a slow machine the writer may have been faster
		dir := t.TempDir()
		s := open(t, "sqlite:"+filepath.Join(dir, "archive.db"))
		w := newLog(t, s, aLog)
		w.text("ann", secret)
		w.add(1)
		w.delete("ann", 1)
		w.add(2)
		s.writer.stop()
		crashed = t.TempDir()
		if err := os.CopyFS(crashed, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
	}
	open(t, "sqlite:"+filepath.Join(crashed, "archive.db"))
	harness.Eventually(t, 20*time.Second, "the deleted text is gone", func() error {
		if inFiles(t, crashed, secret) {
			return errors.New("it is in the files")
		}
		return nil
	})
}

// inFiles tells whether a file below a folder has a word. A database that runs removes files meanwhile.
func inFiles(t *testing.T, dir, word string) (found bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var text []byte
			text, err = os.ReadFile(path)
			found = found || bytes.Contains(text, []byte(word))
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
