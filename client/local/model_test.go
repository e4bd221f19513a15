package local

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/chatd/chatd/client"
)

// logServer has the log of one group and answers with pages of it.
type logServer struct {
	mu      sync.Mutex
	epoch   int
	first   int64
	entries []client.Message // by id, from 1 on
}

func (s *logServer) last() int64 { return int64(len(s.entries) - 1) }

// line tells whether an entry is a line of the group.
func (s *logServer) line(id int64) bool {
	return isLine(s.entries[id].Kind) && s.entries[id].Thread == 0
}

func (s *logServer) renew() {
	s.epoch++
	s.first, s.entries = 1, make([]client.Message, 1)
}

func (s *logServer) write(c client.Content) {
	id := s.last() + 1
	s.entries = append(s.entries, client.Message{ID: id, Group: "g", From: "bob", SentAt: time.UnixMilli(1_700_000_000_000 + id), Content: c})
}

// shown is an entry as a page has it: with all changes that there are.
func (s *logServer) shown(id int64) client.Message {
	m := s.entries[id]
	for _, c := range s.entries[id+1:] {
		switch {
		case c.Target == id:
			m = revised(m, c.Content, nil, c.SentAt)
		case c.Thread == id:
			m.Replies++
		case c.Kind == client.KindDelete && s.entries[c.Target].Thread == id:
			m.Replies--
		}
	}
	return m
}

// sent is an entry as it comes live, or to who comes back: of what was deleted by then nothing is left.
func (s *logServer) sent(id int64) client.Message {
	m := s.entries[id]
	for _, c := range s.entries[id+1:] {
		switch {
		case c.Kind != client.KindDelete:
		case c.Target == id:
			m = revised(m, c.Content, nil, c.SentAt)
		case m.Kind == client.KindEdit && c.Target == m.Target:
			m.Body = ""
		}
	}
	return m
}

func (s *logServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !strings.HasSuffix(r.URL.Path, "/messages") {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	limit, _ := strconv.ParseInt(r.URL.Query().Get("limit"), 10, 64)
	var from, to int64
	if before, err := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64); err == nil {
		to = min(before-1, s.last())
		from = max(s.first, to-limit+1)
	} else {
		after, _ := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
		from = max(after+1, s.first)
		to = min(from+limit-1, s.last())
	}
	messages := []client.Message{}
	for id := from; id <= to; id++ {
		messages = append(messages, s.shown(id))
	}
	more := to < s.last()
	if r.URL.Query().Has("before") {
		more = from > s.first
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"epoch": fmt.Sprint("e", s.epoch), "from": from, "to": to, "first": s.first, "last": s.last(),
		"complete": true, "has_more": more, "messages": messages})
}

// timelineModel takes random steps of all that can happen to timelines, and compares what they show with the log.
type timelineModel struct {
	server    *logServer
	chat      *Chat
	timelines []*Timeline
	position  int64
	epoch     int   // that the position is of
	shows     bool  // the first id has gone back: a gap may be loaded
	away      int64 // below, the server had nothing when a gap was loaded: what is disputed there could not be read again
}

func (m *timelineModel) write(t *rapid.T) {
	for range rapid.IntRange(1, 60).Draw(t, "entries") {
		content := client.Content{Kind: client.KindText, Body: fmt.Sprint("m", m.server.last()+1)}
		if last := m.server.last(); last >= m.server.first && rapid.IntRange(0, 3).Draw(t, "change") == 0 {
			id := rapid.Int64Range(max(m.server.first, last-30), last).Draw(t, "target")
			how := rapid.IntRange(0, 5).Draw(t, "how")
			switch target := m.server.shown(id); {
			case target.Kind != client.KindText || target.DeletedAt != nil:
			case how == 0:
				content = client.Content{Kind: client.KindDelete, Target: id}
			case how < 3 && target.Thread == 0:
				content.Thread = id
			default:
				content = client.Content{Kind: client.KindEdit, Target: id, Body: fmt.Sprint("edited by ", last+1)}
			}
		}
		m.server.write(content)
	}
}

// live receives what comes next, up to a place.
func (m *timelineModel) live(t *rapid.T) {
	s := m.server
	var gap *client.Gap
	from := m.position + 1
	switch {
	case m.epoch != s.epoch:
		from = max(s.first, s.last()-20)
		gap = &client.Gap{Group: "g", Epoch: fmt.Sprint("e", s.epoch), From: from, Anew: true}
		m.away, m.shows = 0, false
	case from < s.first:
		gap = &client.Gap{Group: "g", Epoch: fmt.Sprint("e", s.epoch), After: m.position, From: s.first}
		from = s.first
	}
	if from > s.last() {
		return
	}
	to := rapid.Int64Range(from, min(s.last(), from+99)).Draw(t, "to")
	b := client.Messages{Group: "g", Epoch: fmt.Sprint("e", s.epoch), From: from, To: to, First: s.first, Cursor: client.At(to)}
	for id := from; id <= to; id++ {
		b.Messages = append(b.Messages, s.sent(id))
	}
	if err := m.chat.commit(t.Context(), func(d *draft) error {
		hole, err := d.received(b, gap)
		if hole {
			t.Errorf("%d..%d after %d is a hole", from, to, m.position)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	m.position, m.epoch = to, s.epoch
}

func (m *timelineModel) one(t *rapid.T) *Timeline {
	return rapid.SampledFrom(m.timelines).Draw(t, "timeline")
}

func (m *timelineModel) at(t *rapid.T) At {
	if rapid.Bool().Draw(t, "end") {
		return At{}
	}
	return At{ID: rapid.Int64Range(1, m.server.last()).Draw(t, "at")}
}

// loaded lets a call ask the server, which may be of another life of the log.
func (m *timelineModel) loaded(t *rapid.T, call func() error) {
	if err := call(); err != nil && m.epoch == m.server.epoch {
		t.Fatal(err)
	}
}

func (m *timelineModel) steps() map[string]func(*rapid.T) {
	steps := map[string]func(*rapid.T){
		"write": m.write, "live": m.live,
		"trim": func(t *rapid.T) {
			m.server.first = rapid.Int64Range(m.server.first, m.server.last()).Draw(t, "first")
		},
		"before": func(t *rapid.T) { m.loaded(t, func() error { return m.one(t).LoadBefore(t.Context()) }) },
		"after":  func(t *rapid.T) { m.loaded(t, func() error { return m.one(t).LoadAfter(t.Context()) }) },
		"jump":   func(t *rapid.T) { m.loaded(t, func() error { return m.one(t).Jump(t.Context(), m.at(t)) }) },
		"load": func(t *rapid.T) { // of an archive that is there for a moment
			timeline := m.one(t)
			for _, l := range timeline.View().Lines {
				if l.Gap == nil || l.Gap.To == 0 {
					continue
				}
				first := m.server.first
				if m.server.first = 1; rapid.Bool().Draw(t, "part of it") {
					m.server.first = min(first, l.Gap.From+rapid.Int64Range(0, 10).Draw(t, "there"))
					m.away = max(m.away, m.server.first)
				}
				m.loaded(t, func() error { _, err := timeline.LoadGap(t.Context(), *l.Gap); return err })
				m.server.first = first
				break
			}
		},
		"history": func(t *rapid.T) { // the group shows by now what it did not
			if m.epoch != m.server.epoch {
				return
			}
			m.shows = true
			m.server.first = rapid.Int64Range(1, m.server.first).Draw(t, "from")
			var g client.GroupState
			g.ID, g.Epoch, g.First, g.Last = "g", fmt.Sprint("e", m.epoch), m.server.first, m.server.last()
			if err := m.chat.commit(t.Context(), func(d *draft) error { d.listed([]client.GroupState{g}); return nil }); err != nil {
				t.Fatal(err)
			}
		},
		"renew": func(t *rapid.T) {
			if rapid.IntRange(0, 9).Draw(t, "rarely") == 0 {
				m.server.renew()
				m.write(t)
			}
		},
		"": func(t *rapid.T) {
			for _, timeline := range m.timelines {
				m.check(t, timeline)
			}
		},
	}
	steps["live on"], steps["live again"] = m.live, m.live
	return steps
}

func (m *timelineModel) check(t *rapid.T, timeline *Timeline) {
	v, s := timeline.View(), m.server
	if m.epoch != s.epoch {
		return // of this life nobody has heard
	}
	var shown []int64
	var gaps []span
	keys := map[string]bool{}
	for _, l := range v.Lines {
		if keys[l.Key] {
			t.Errorf("two lines have the key %s", l.Key)
		}
		keys[l.Key] = true
		if l.Gap != nil {
			gaps = append(gaps, span{l.Gap.From, l.Gap.To})
			continue
		}
		if len(shown) > 0 && l.ID <= shown[len(shown)-1] {
			t.Errorf("%d comes after %d", l.ID, shown[len(shown)-1])
		}
		shown = append(shown, l.ID)
		switch want := s.shown(l.ID); {
		case m.hides(l.ID):
		case m.position == s.last():
			if l.Body != want.Body || want.DeletedAt == nil && l.Replies != want.Replies && !m.lacksReply(l.ID) {
				t.Errorf("%d is %q with %d replies, want %q with %d", l.ID, l.Body, l.Replies, want.Body, want.Replies)
			}
		default:
			if texts := m.texts(l.ID); !slices.Contains(texts, l.Body) {
				t.Errorf("%d is %q, want one of %q", l.ID, l.Body, texts)
			}
		}
	}
	if len(shown) > linesMax {
		t.Errorf("%d lines", len(shown))
	}
	if len(shown) == 0 {
		return
	}
	first, last := shown[0], shown[len(shown)-1]
	if !v.After {
		last = m.position
	}
	for id := first; id <= last; id++ {
		if _, there := slices.BinarySearch(shown, id); there != s.line(id) {
			if there || !holds(gaps, id) {
				t.Errorf("%d, a %s, is shown: %t, between %d and %d, and in no gap of %v", id, s.entries[id].Kind, there, first, last, gaps)
			} else if id >= s.first && !m.shows {
				t.Errorf("%d lies in a gap, and is to be had from %d on", id, s.first)
			}
		}
	}
	for _, id := range shown {
		if holds(gaps, id) {
			t.Errorf("%d is shown, and lies in a gap of %v", id, gaps)
		}
	}
	if !v.Before {
		for id := s.first; id < first; id++ {
			if s.line(id) && !holds(gaps, id) {
				t.Errorf("nothing is before %d, it says, but there is %d", first, id)
			}
		}
	}
}

// texts are those that a message may show: with what has been received of its changes, or more of them that a page has brought.
func (m *timelineModel) texts(id int64) []string {
	now := m.server.entries[id]
	texts := []string{now.Body}
	deleted := m.server.shown(id).DeletedAt != nil // edits before that come without content
	for _, c := range m.server.entries[id+1:] {
		if c.Target != id {
			continue
		}
		if now = revised(now, c.Content, nil, c.SentAt); c.ID <= m.position && (c.Kind == client.KindDelete || !deleted) {
			texts = nil
		}
		texts = append(texts, now.Body)
	}
	return texts
}

// about are the entries that are about a message, or about a reply to it.
func (m *timelineModel) about(id int64) (about []client.Message) {
	for _, c := range m.server.entries[id+1:] {
		if c.Target == id || c.Thread == id || m.server.entries[c.Target].Thread == id {
			about = append(about, c)
		}
	}
	return about
}

// hides tells whether a gap hides something that is about a message, or did so and could not be followed.
func (m *timelineModel) hides(id int64) bool {
	return id < m.away || slices.ContainsFunc(m.about(id), func(c client.Message) bool { return holds(m.log().Gaps, c.ID) })
}

// lacksReply tells whether a reply was deleted that is not held: of what it was a reply, its deletion does not say.
func (m *timelineModel) lacksReply(id int64) bool {
	return slices.ContainsFunc(m.about(id), func(c client.Message) bool { return c.Kind == client.KindDelete && !holds(m.log().Held, c.Target) })
}

func (m *timelineModel) log() groupLog {
	m.chat.mu.Lock()
	defer m.chat.mu.Unlock()
	return m.chat.record("g").Log
}

// TestTimelinesModel: whatever happens in whatever order, timelines show the log, and gaps where the server has it no longer.
func TestTimelinesModel(t *testing.T) {
	s := &logServer{}
	web := httptest.NewServer(s)
	defer web.Close()
	rapid.Check(t, func(t *rapid.T) {
		s.mu.Lock()
		s.renew()
		s.mu.Unlock()
		chat := openChat(t.Context(), t, web.URL)
		defer chat.Close()
		m := &timelineModel{server: s, chat: chat}
		m.write(t)
		m.epoch = s.epoch
		m.live(t)
		for range 3 {
			timeline, err := chat.Timeline(t.Context(), "g", m.at(t))
			if err != nil {
				t.Fatal(err)
			}
			m.timelines = append(m.timelines, timeline)
		}
		t.Repeat(m.steps())
	})
}
