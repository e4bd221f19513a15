package users

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"math"
	rands "math/rand/v2"
	"slices"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/table"
)

// Nodes ask each other by a small table: a row is a question, or the answer of a node to one. So a question reaches every node
// within a second though its signal is lost, and what nobody asks about costs nothing: sessions are written down nowhere.

const asksName = "asks"

const (
	asksMax = 10_000
	// answerWithin is how long a question waits for the nodes that have sessions of the user: as long as the versions of the tables
	// take to be read by them and then here. A node that died a moment ago does not answer; its sessions are gone with it.
	answerWithin = 2500 * time.Millisecond
	askKept      = 10 * time.Second // then the node that wrote a row removes it
	askLeft      = time.Minute      // then any node does: the one that wrote it died
	askStep      = 2 * time.Second  // for one step of the store
)

// Session is a live websocket.
type Session struct {
	ID      string    `json:"id"`
	Node    string    `json:"node"`
	Since   chat.Time `json:"since"`
	Address string    `json:"address"`
	Agent   string    `json:"agent"`  // of the handshake, cut; empty: it named none
	Groups  int       `json:"groups"` // that it follows; 0 until it has said hello
}

// Ask is a row of the table of questions and answers.
type Ask struct {
	ID       string    `json:"-"`
	Node     string    `json:"node"`               // that wrote it
	User     string    `json:"user,omitempty"`     // of a question
	Ends     bool      `json:"ends,omitempty"`     // of a question: end the sessions instead of listing them
	To       string    `json:"to,omitempty"`       // of an answer: the question
	Sessions []Session `json:"sessions,omitempty"` // of an answer
}

func decodeAsk(id, text string) (Ask, error) {
	a := Ask{ID: id}
	err := json.Unmarshal([]byte(text), &a)
	return a, err
}

// asksChanged wakes Run, and those who wait for answers.
func (s *Service) asksChanged() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
	s.mu.Lock()
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
}

func (s *Service) nextChange() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// write writes a question or an answer, with what the audit gets of it.
func (s *Service) write(ctx context.Context, a Ask, notes ...audit.Entry) error {
	a.Node = s.opt.Node
	text, err := json.Marshal(a)
	if err != nil {
		return chat.AsError(err)
	}
	_, err = s.asks.Put(ctx, s.store, table.Row{ID: a.ID, Text: string(text), Notes: notes})
	return chat.AsError(err)
}

// Disconnect ends all sessions of a user, on this node at once and on every other within a second. Their clients may connect
// again. A session that begins on another node before that node knows is ended as well: the clocks of nodes decide nothing here.
func (s *Service) Disconnect(ctx context.Context, by chat.Caller, user string) error {
	if err := chat.CheckUserID("user", user); err != nil {
		return err
	}
	var notes []audit.Entry
	if by.User != user {
		notes = []audit.Entry{audit.Note(by, audit.UserDisconnect, "", user, nil)}
	}
	if err := s.write(ctx, Ask{ID: rand.Text(), User: user, Ends: true}, notes...); err != nil {
		return err
	}
	s.sockets.Disconnect(user)
	return nil
}

// Sessions lists the sessions of a user on all nodes, the newest first. It asks only nodes that have some, and waits at most
// answerWithin for them: those of a node that does not answer are left out.
func (s *Service) Sessions(ctx context.Context, user string) ([]Session, error) {
	if err := chat.CheckUserID("user", user); err != nil {
		return nil, err
	}
	nodes, err := s.store.NodesOf(ctx, user)
	if err != nil {
		return nil, chat.AsError(err)
	}
	list := slices.Clone(s.sockets.SessionsOf(user))
	for i := range list {
		list[i].Node = s.opt.Node
	}
	nodes = slices.DeleteFunc(nodes, func(node string) bool { return node == s.opt.Node })
	if len(nodes) > 0 {
		question := rand.Text()
		if err := s.write(ctx, Ask{ID: question, User: user}); err != nil {
			return nil, err
		}
		for _, a := range s.answers(ctx, question, nodes) {
			list = append(list, a.Sessions...)
		}
	}
	slices.SortFunc(list, func(a, b Session) int { return cmp.Or(b.Since.Compare(a.Since.Time), cmp.Compare(a.ID, b.ID)) })
	return list, nil
}

// answers waits until these nodes have answered a question, and returns all answers.
func (s *Service) answers(ctx context.Context, question string, nodes []string) []Ask {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	for {
		changed := s.nextChange()
		var answers []Ask
		missing := slices.Clone(nodes)
		for _, a := range s.asks.All() {
			if a.To == question {
				answers = append(answers, a)
				missing = slices.DeleteFunc(missing, func(node string) bool { return node == a.Node })
			}
		}
		if len(missing) == 0 {
			return answers
		}
		select {
		case <-ctx.Done():
			return answers
		case <-changed:
		}
	}
}

// Run answers the questions of other nodes, and removes rows that have served, until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	seen := map[string]time.Time{}
	for {
		timer := time.NewTimer(s.look(ctx, time.Now(), seen))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-s.wake:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// look handles what is new in the table, removes what is old, and returns when to look again if nothing changes. seen is when
// each row was first seen.
func (s *Service) look(ctx context.Context, now time.Time, seen map[string]time.Time) time.Duration {
	again := time.Duration(math.MaxInt64)
	there := map[string]bool{}
	for _, a := range s.asks.All() {
		there[a.ID] = true
		since, known := seen[a.ID]
		if !known {
			seen[a.ID] = now
			since = now
			s.answer(ctx, a)
		}
		kept := askLeft
		if a.Node == s.opt.Node {
			kept = askKept
		}
		if left := kept - now.Sub(since); left > 0 {
			again = min(again, left)
			continue
		}
		if err := s.remove(ctx, a.ID); err != nil && ctx.Err() == nil {
			s.opt.Log.DebugContext(ctx, "cannot remove what a node asked the others", "error", err)
		}
		again = min(again, askKept+rands.N(askKept))
	}
	for id := range seen {
		if !there[id] {
			delete(seen, id)
		}
	}
	return again
}

// answer does what another node asks for.
func (s *Service) answer(ctx context.Context, a Ask) {
	switch {
	case a.Node == s.opt.Node || a.User == "":
	case a.Ends:
		s.sockets.Disconnect(a.User)
	default:
		list := s.sockets.SessionsOf(a.User)
		if len(list) == 0 {
			return
		}
		for i := range list {
			list[i].Node = s.opt.Node
		}
		ctx, cancel := context.WithTimeout(ctx, askStep)
		defer cancel()
		if err := s.write(ctx, Ask{ID: rand.Text(), To: a.ID, Sessions: list}); err != nil {
			s.opt.Log.WarnContext(ctx, "cannot answer which sessions a user has", "error", err)
		}
	}
}

// remove removes a row. That another node did so already is as well.
func (s *Service) remove(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, askStep)
	defer cancel()
	_, err := s.asks.Change(ctx, s.store, id, func(string) (string, error) { return "", nil })
	return err
}
