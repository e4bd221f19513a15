package archive

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/archive"
)

// testRanges: in more logs than the index is asked for, a search finds what lies in the range of each, whatever these are.
func testRanges(t *testing.T, url string) {
	s := open(t, url)
	const each = 4
	var logs []archive.Visible
	for n := range facetsMax + 8 {
		w := newLog(t, s, archive.Log{Group: fmt.Sprintf("g%02d", (7*n)%(facetsMax+8)), Epoch: "e"})
		for range each {
			w.text("ann", "word")
		}
		w.add(1)
		logs = append(logs, archive.Visible{Log: w.log, From: 1, To: chat.IDMax})
	}
	random := rand.New(rand.NewPCG(1, 1))
	somewhere := func() int64 { return random.Int64N(each + 3) }
	for name, cut := range map[string]func(n int, v *archive.Visible){
		"whole":  func(int, *archive.Visible) {},
		"from 0": func(_ int, v *archive.Visible) { v.From = 0 },
		"one begins late": func(n int, v *archive.Visible) {
			if n == 3 {
				v.From = 3
			}
		},
		"all end early": func(_ int, v *archive.Visible) { v.To = somewhere() },
		"anything":      func(_ int, v *archive.Visible) { v.From, v.To = somewhere(), somewhere() },
	} {
		visible := slices.Clone(logs[:facetsMax+5]) // the others stay hidden
		var want []string
		for n := range visible {
			v := &visible[n]
			cut(n, v)
			for id := max(v.From, 1); id <= min(v.To, each); id++ {
				want = append(want, fmt.Sprint(v.Group, id))
			}
		}
		slices.Sort(want)
		got := findAll(t, s, archive.Query{Text: "word", Visible: visible, Limit: 50})
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestBigints: an array is encoded as pgx does it.
func TestBigints(t *testing.T) {
	plain, ours := pgtype.NewMap(), pgtype.NewMap()
	registerBigints(ours)
	for _, value := range []any{[]int64{}, []int64{7}, []int64{1, -1, 1 << 62, -1 << 63, 0}, []int64(nil), []*int64{nil}, []int32{5}} {
		for _, format := range []int16{pgtype.BinaryFormatCode, pgtype.TextFormatCode} {
			want, err1 := plain.Encode(pgtype.Int8ArrayOID, format, value, []byte("before"))
			got, err2 := ours.Encode(pgtype.Int8ArrayOID, format, value, []byte("before"))
			if diff := cmp.Diff(want, got); diff != "" || err1 != nil || err2 != nil {
				t.Errorf("%#v, format %d: %s, %v, %v", value, format, diff, err1, err2)
			}
		}
	}
}
