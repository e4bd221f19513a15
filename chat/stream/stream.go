// Package stream is what authors write piece by piece, as the answers of language models come. The message has its place in the log from
// the beginning; its pieces are no entries and move no cursor, and one entry more ends it.
package stream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/chatd/chatd/chat"
)

// TaskCut ends a stream whose author is silent. A kind is stored with its tasks, so it keeps its name when the code is renamed.
const TaskCut = "stream"

// CutTask names a stream.
type CutTask struct {
	Group string `json:"group"`
	Epoch string `json:"epoch"`
	ID    int64  `json:"id"`
}

// endTries bounds how often an end is made again because more was written meanwhile.
const endTries = 5

// Piece is some text of a message.
type Piece struct {
	By       chat.Caller
	Group    string
	ID       int64
	Offset   int64 // where it begins, in bytes
	Text     string
	Replaces bool // it is the whole text, and has no Offset
}

// State is how far a stream is.
type State struct {
	Length    int64 `json:"length"`              // bytes that stand
	Cancelled bool  `json:"cancelled,omitempty"` // somebody asked the author to stop
}

// End ends a stream.
type End struct {
	Group, Epoch string
	Of           chat.OpenStream // what was read
	Mark         string          // of the entry that says so, and its JSON from after the id on
	Rest         []byte
	SentAtMs     int64
	Was, JSON    []byte   // of the message: with what stands, and as it reads from now on
	Mentions     []string // who is notified of a mention
	Cut          bool     // only if its author is silent, or it has lasted Longest
	Longest      time.Duration
}

// Store keeps streams. Every method is one atomic step and may be repeated. Errors are those of chat.Store.
type Store interface {
	// WritePiece writes on at an open stream of the caller, and tells live readers; one that is there already changes nothing. ErrEnded: there
	// is no such open stream. CodeConflict, with Length: other content stands there, or less. CodeTooLarge, CodeRateLimited.
	WritePiece(ctx context.Context, p Piece) (State, error)
	// OpenStreams reads open streams of a group, all if no ids are given.
	OpenStreams(ctx context.Context, group string, ids ...int64) (epoch string, list []chat.OpenStream, err error)
	// EndStream ends a stream, with the entry id. 0: it has ended already, or, for a cut, it is too early by wait. ErrConflict: it is not as it
	// was read.
	EndStream(ctx context.Context, e End) (id int64, wait time.Duration, err error)
	// CancelStream asks the author of an open stream to stop. ErrEnded.
	CancelStream(ctx context.Context, by chat.Caller, group string, id int64) error
}

// Logs are the logs of groups, with what is in the archive.
type Logs interface {
	// Pull is that of chat.Store.
	Pull(ctx context.Context, user string, pulls []chat.Pull) ([]chat.Page, error)
	// Entries is that of chat.LogStore.
	Entries(ctx context.Context, group string, ids []int64) ([]chat.Message, error)
	// Pinned is that of chat.LogStore.
	Pinned(ctx context.Context, group string, id int64) (chat.Message, error)
	// Revise is that of chat.LogStore.
	Revise(ctx context.Context, a chat.Append, changes []chat.Change, asAdmin bool) (chat.Appended, error)
}

// Service writes streams. It may be used from many goroutines.
type Service struct {
	core    *chat.Service
	store   Store
	logs    Logs
	longest time.Duration
}

// New makes a Service. logs are those that the core serves. longest is how long a stream may last; 0: StreamLongest.
func New(core *chat.Service, store Store, logs Logs, longest time.Duration) *Service {
	return &Service{core, store, logs, cmp.Or(longest, chat.StreamLongest)}
}

// Handlers are the tasks of streams.
func (s *Service) Handlers() map[string]chat.TaskKind {
	return map[string]chat.TaskKind{TaskCut: chat.Patient(s.cut)}
}

// Draft is a piece as a client sends it: Append at Offset, or Body.
type Draft struct {
	Offset *int64  `json:"offset,omitempty"`
	Append *string `json:"append,omitempty"`
	Body   *string `json:"body,omitempty"`
	Done   bool    `json:"done,omitempty"`
}

// piece checks a draft.
func (d Draft) piece(by chat.Caller, group string, id int64) (Piece, error) {
	p := Piece{By: by, Group: group, ID: min(id, chat.IDMax)}
	switch {
	case d.Body != nil && (d.Append != nil || d.Offset != nil):
		return p, chat.Invalid("body: takes neither offset nor append")
	case d.Body != nil:
		p.Text, p.Replaces = *d.Body, true
	case d.Append == nil:
		return p, chat.Invalid("append: missing")
	case d.Offset == nil:
		return p, chat.Invalid("offset: missing")
	case *d.Offset < 0:
		return p, chat.Invalid("offset: must not be negative")
	default:
		p.Offset, p.Text = min(*d.Offset, chat.IDMax), *d.Append
	}
	field := "append"
	if p.Replaces {
		field = "body"
	}
	switch {
	case len(p.Text) > chat.StreamBytesMax:
		return p, chat.Errorf(chat.CodeTooLarge, "%s: a stream has at most %d bytes", field, chat.StreamBytesMax)
	case !utf8.ValidString(p.Text):
		return p, chat.Invalid("%s: not valid UTF-8", field)
	}
	if i := strings.IndexFunc(p.Text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' && r != '\r' }); i >= 0 {
		return p, chat.Invalid("%s: control character at byte %d", field, i)
	}
	return p, nil
}

// Write writes on at a message of the caller. A piece that is there already is harmless, also after the end.
func (s *Service) Write(ctx context.Context, by chat.Caller, group string, id int64, d Draft) (State, error) {
	if err := cmp.Or(chat.CheckGroup(by, group), checkID(id)); err != nil {
		return State{}, err
	}
	p, err := d.piece(by, group, id)
	if err != nil {
		return State{}, err
	}
	state, err := s.store.WritePiece(ctx, p)
	switch {
	case errors.Is(err, ErrEnded):
		return s.repeated(ctx, p)
	case err != nil:
		return State{}, s.core.Refused(ctx, by, group, err)
	case d.Done:
		err = s.done(ctx, by, group, p.ID)
	}
	return state, err
}

func checkID(id int64) error {
	if id < 1 {
		return chat.Invalid("id: must be at least 1")
	}
	return nil
}

// ErrEnded is the answer of a store for a message that is no open stream. Only the service sees it.
var ErrEnded = errors.New("no open stream")

// Stands is the refusal of a piece that does not go with what stands.
func Stands(length int64) *chat.Error {
	e := chat.Errorf(chat.CodeConflict, "%d bytes stand, and the piece does not continue them", length)
	e.Length = &length
	return e
}

// message reads a message of a group as the caller sees it.
func (s *Service) message(ctx context.Context, by chat.Caller, group string, id int64) (e chat.Entry, err error) {
	pages, err := s.logs.Pull(ctx, by.User, []chat.Pull{{Group: group, From: id, Limit: 1}})
	if err == nil {
		err = pages[0].Err
	}
	if err != nil {
		return e, s.core.Refused(ctx, by, group, err)
	}
	if list := pages[0].Messages; len(list) == 0 || list[0].ID != id || json.Unmarshal(list[0].JSON, &e) != nil {
		return e, chat.ErrNotFound
	}
	if e.DeletedAt != nil || e.Kind != chat.Text && e.Kind != chat.Data {
		return e, chat.ErrNotFound
	}
	return e, nil
}

// repeated answers a piece of a message that is no open stream: it is harmless where the message has just that.
func (s *Service) repeated(ctx context.Context, p Piece) (State, error) {
	e, err := s.message(ctx, p.By, p.Group, p.ID)
	switch {
	case err != nil:
		return State{}, err
	case e.From != p.By.User:
		return State{}, ErrAuthorsOnly
	case e.Body == nil:
		return State{}, Stands(0)
	}
	body := *e.Body
	length, end := int64(len(body)), p.Offset+int64(len(p.Text))
	if p.Replaces && body == p.Text || !p.Replaces && end <= length && body[p.Offset:end] == p.Text {
		return State{Length: length}, nil
	}
	if !p.Replaces && p.Offset < length && !utf8.RuneStart(body[p.Offset]) {
		return State{}, ErrSplit
	}
	return State{}, Stands(length)
}

// TooFast refuses more pieces than StreamPiecesMax in a window.
func TooFast(wait time.Duration) *chat.Error {
	e := chat.Errorf(chat.CodeRateLimited, "a message is written with at most %d pieces a second", chat.StreamPiecesMax)
	e.RetryAfter = wait
	return e
}

// What a piece is refused for.
var (
	ErrAuthorsOnly = chat.Errorf(chat.CodeForbidden, "only the author may write on at a message")
	ErrSplit       = chat.Invalid("offset: within a character")
)

// Cancel asks the author of a message to stop: members who may write.
func (s *Service) Cancel(ctx context.Context, by chat.Caller, group string, id int64) error {
	if err := cmp.Or(chat.CheckGroup(by, group), checkID(id)); err != nil {
		return err
	}
	err := s.store.CancelStream(ctx, by, group, min(id, chat.IDMax))
	if errors.Is(err, ErrEnded) {
		if _, err := s.message(ctx, by, group, min(id, chat.IDMax)); err != nil {
			return err
		}
		return chat.Errorf(chat.CodeConflict, "the message is not being written any longer")
	}
	if err != nil {
		return s.core.Refused(ctx, by, group, err)
	}
	return nil
}
