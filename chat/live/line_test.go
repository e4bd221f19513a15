package live

import (
	"fmt"
	"testing"

	"github.com/chatd/chatd/chat"
)

func at(id int64, mark string) chat.Position {
	return chat.Position{Set: true, ID: id, Epoch: "e", Mark: mark}
}

// TestLinePlan says where a line reads on: from a ring that holds 3..5 of a log, or knows nothing, or from the store.
func TestLinePlan(t *testing.T) {
	const few, many = 1, warmReaders
	for _, row := range []struct {
		what    string
		line    line
		readers int
		ring    func(*ring)
		want    plan
		from    int64
	}{
		{"has everything", line{pos: at(5, "m"), verified: true}, many, nil, planNothing, 6},
		{"has more than the ring", line{pos: at(7, "m"), verified: true, last: 7}, many, nil, planNothing, 8},
		{"knows of more than the ring", line{pos: at(5, "m"), verified: true, last: 6}, many, nil, planAsk, 6},
		{"is gone", line{pos: at(3, "m"), verified: true, gone: true}, many, nil, planNothing, 4},

		{"is behind", line{pos: at(3, "m"), verified: true}, few, nil, planServe, 4},
		{"is just before the ring", line{pos: at(2, "m"), verified: true}, few, nil, planServe, 3},
		{"is to be compared, with an entry of the ring", line{pos: at(3, "m")}, few, nil, planServe, 4},
		{"was of another log", line{pos: at(3, "old")}, many, nil, planAsk, 4},
		{"owes the session a gap", line{pos: at(3, "m"), verified: true, gapPending: true}, many, nil, planAsk, 4},
		{"is of another epoch", line{pos: chat.Position{Set: true, ID: 3, Epoch: "d"}, verified: true}, many, nil, planAsk, 4},
		{"was compared with another life", line{pos: at(3, "m"), verified: true}, many, (*ring).outdate, planAsk, 4},
		{"was compared with this life", line{pos: at(3, "m"), verified: true, gen: 9}, few, func(r *ring) { r.outdate(); r.gen = 9 }, planServe, 4},
		{"may have missed something", line{pos: at(3, "m"), verified: true}, many, (*ring).cut, planAsk, 4},
		{"has everything, and may have missed something", line{pos: at(5, "m"), verified: true}, many, (*ring).cut, planNothing, 6},

		{"is below the ring", line{pos: at(1, "m"), verified: true}, few, nil, planAsk, 2},
		{"is below the ring as others are", line{pos: at(1, "m"), verified: true}, many, nil, planWarm, 2},
		{"is below the ring, to be compared", line{pos: at(1, "m")}, many, nil, planWarm, 1},
		{"is just before the ring, to be compared", line{pos: at(2, "m")}, many, nil, planWarm, 2},
		{"begins with the log, to be compared", line{pos: at(0, "m")}, many, nil, planAsk, 1},
		{"is further below than the ring can hold", line{pos: at(1, "m"), verified: true}, many, func(r *ring) { r.most = 3 }, planAsk, 2},
		{"is below what can be put before the ring", line{pos: at(1, "m"), verified: true}, many, func(r *ring) { r.floor = 3 }, planAsk, 2},

		{"knows as little as the ring", line{pos: at(5, "m"), verified: true, last: 5}, many, (*ring).unknow, planNothing, 6},
		{"knows more than the ring, which knows nothing", line{pos: at(4, "m"), verified: true, last: 5}, many, (*ring).unknow, planAsk, 5},
	} {
		r := newRing(8)
		r.begin("e", 2)
		for _, m := range texts(3, 5, "m") {
			r.push(m)
		}
		if row.ring != nil {
			row.ring(&r)
		}
		if got, from := row.line.plan(&r, row.readers); got != row.want || from != row.from {
			t.Errorf("a line that %s: got plan %d from %d, want %d from %d", row.what, got, from, row.want, row.from)
		}
	}
}

func (r *ring) unknow() { *r = newRing(r.most) }

// TestLineStart says where a line begins of a log that holds 1..9, of which the member has seen 4.
func TestLineStart(t *testing.T) {
	for _, row := range []struct {
		what   string
		pos    chat.Position
		newest int64
		want   chat.Position
		gap    bool
		to     bool // it is still to be compared
		behind bool
	}{
		{"no position", chat.Position{}, 0, at(4, ""), false, false, true},
		{"the newest page", chat.Position{}, 7, at(7, ""), true, false, true},
		{"the newest page, of which some was seen", chat.Position{}, 3, at(4, ""), false, false, true},
		{"the newest page after a position", at(5, "m"), 7, at(5, "m"), false, true, true},
		{"the end", at(9, "m"), 0, at(9, "m"), false, false, false},
		{"the end of another log", at(9, "old"), 0, at(0, ""), true, false, true},
		{"another epoch", chat.Position{Set: true, ID: 5, Epoch: "d"}, 0, at(0, ""), true, false, true},
		{"more than there is", at(12, ""), 0, at(0, ""), true, false, true},
	} {
		l := line{last: 9}
		info := info("g", "e", 9, 4)
		info.LastMark = "m"
		behind := l.start(info, row.pos, row.newest)
		if l.pos != row.want || l.gapPending != row.gap || l.verified == row.to || behind != row.behind {
			t.Errorf("%s: got %+v, gap %v, verified %v, behind %v; want %+v", row.what, l.pos, l.gapPending, l.verified, behind, row)
		}
	}
}

// answered is a reading after pos that a store answered which holds first..last of the log, cut to so many entries.
func answered(group string, pos chat.Position, limit int, first, last int64, cut int) *chat.Reading {
	r := chat.NewReading(group, pos, 0, limit)
	for {
		p, ok := r.Ask()
		if !ok {
			return &r
		}
		messages := texts(max(p.From, first), min(last, p.From+int64(p.Limit)-1), "m")
		page := chat.Page{Info: chat.Info{Group: chat.Group{ID: group, Epoch: "e", First: first, Last: last, History: true}, Held: first}, Messages: messages}
		if cut < len(messages) {
			page.Messages, page.Cut = messages[:cut], true
		}
		r.Take(&page)
	}
}

// TestLineApply says what a session gets of what was read, and where its line stands then.
func TestLineApply(t *testing.T) {
	const all, long = 99, 1 << 20
	size := len(text(1, "m").JSON)
	for _, row := range []struct {
		what    string
		line    line
		reading *chat.Reading
		room    int
		want    string // from..to, what the session is told, and where the line stands
		more    bool
	}{
		{"all", line{}, answered("g", at(3, "m"), 9, 1, 6, all), long, "4..6 of 6, complete, at e.6.m", false},
		{"a part", line{}, answered("g", at(3, "m"), 2, 1, 6, all), long, "4..5 of 6, complete, at e.5.m", true},
		{"what fits", line{}, answered("g", at(3, "m"), 9, 1, 6, all), 2*size + 1, "4..5 of 6, complete, at e.5.m", true},
		{"at least one", line{}, answered("g", at(3, "m"), 9, 1, 6, all), 1, "4..4 of 6, complete, at e.4.m", true},
		{"nothing new", line{}, answered("g", at(6, "m"), 9, 1, 6, all), long, "nothing, at e.6.m", false},
		{"what is left of a trimmed log", line{}, answered("g", at(1, "m"), 9, 5, 6, all), long, "5..6 of 6, gap, at e.6.m", false},
		{"nothing of a trimmed log", line{}, answered("g", at(1, "m"), 9, 7, 6, all), long, "7..6 of 6, gap, at e.6.", false},
		{"all, after a gap", line{gapPending: true}, answered("g", at(3, "m"), 9, 1, 6, all), long, "4..6 of 6, gap, at e.6.m", false},
		{"nothing new, after a gap", line{gapPending: true}, answered("g", at(6, "m"), 9, 1, 6, all), long, "7..6 of 6, gap, at e.6.m", false},
		{"another log", line{}, answered("g", at(3, "old"), 9, 1, 4, all), long, "1..4 of 4, gap, at e.4.m", false},
		{"a log that ends earlier", line{}, answered("g", at(9, "m"), 9, 1, 4, all), long, "1..4 of 4, gap, at e.4.m", false},
		{"nothing, because others got all the bytes", line{}, answered("g", at(3, "m"), 9, 1, 6, 0), long, "nothing, at e.3.m", true},
	} {
		fd := newFeed("g", 8)
		l := row.line
		l.feed = fd
		b, more, err := l.apply(row.reading, 7, row.room)
		got := "nothing"
		if b != nil {
			got = fmt.Sprintf("%d..%d of %d", b.From, b.To, b.Last)
			completeness := map[bool]string{true: ", complete", false: ", gap"}
			got += completeness[b.Complete]
			if n := int64(len(b.Messages)); n != b.To-b.From+1 || b.HasMore != more || b.Cursor != chat.FormatPosition("e", b.To, l.pos.Mark) {
				t.Errorf("%s: got %d messages, more %v in %+v", row.what, n, more, b)
			}
		}
		got += fmt.Sprintf(", at %s.%d.%s", l.pos.Epoch, l.pos.ID, l.pos.Mark)
		if got != row.want || more != row.more || err != nil {
			t.Errorf("%s: got %s, more %v, %v; want %s, more %v", row.what, got, more, err, row.want, row.more)
		}
		if l.gen != 7 || !l.verified || b != nil && l.gapPending {
			t.Errorf("%s: the line is of generation %d, verified %v, owes a gap %v", row.what, l.gen, l.verified, l.gapPending)
		}
	}
	l := line{interest: interest{feed: newFeed("g", 8)}}
	holed := answered("g", at(3, "m"), 9, 1, 3, all)
	holed.Info.Last = 6
	if b, more, err := l.apply(holed, 1, long); b != nil || !more || err == nil {
		t.Errorf("a log with a hole: got %+v, more %v, %v; want an error, and to be read again", b, more, err)
	}
}
