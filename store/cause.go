package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
)

// Cause is why a store does not do what it is asked, in a word for logs. There are few: operators act by them.
type Cause string

// Causes. Their texts are part of the log, which people search.
const (
	CauseAway        Cause = "away"        // no answer, or no connection
	CauseFull        Cause = "full"        // its memory: what would add to it is refused
	CauseCredentials Cause = "credentials" // the user or the password is wrong
	CauseRights      Cause = "rights"      // the user may not run a command
	CauseReadOnly    Cause = "read-only"   // it is a replica
	CausePersistence Cause = "persistence" // it cannot write to its disk
	CauseReplicas    Cause = "replicas"    // too few of them are connected
	CauseLoading     Cause = "loading"     // it reads its data
	CauseCluster     Cause = "cluster"     // slots have no master, or move
	CauseBusy        Cause = "busy"        // with a script, or with too many clients
	CauseRefused     Cause = "refused"     // its answer does not say why
)

// causes are found by what the answers of a server begin with. Each is an answer that another one may follow soon, so the
// caller should try again.
var causes = []struct {
	begins string
	cause  Cause
}{
	{"OOM", CauseFull}, {"WRONGPASS", CauseCredentials}, {"NOAUTH", CauseCredentials},
	{"ERR Protocol error: unauthenticated", CauseCredentials}, // a large command of a connection that has lost its user
	{"NOPERM", CauseRights}, {"READONLY", CauseReadOnly}, {"MISCONF", CausePersistence}, {"NOREPLICAS", CauseReplicas},
	{"LOADING", CauseLoading}, {"MASTERDOWN", CauseCluster}, {"CLUSTERDOWN", CauseCluster}, {"TRYAGAIN", CauseCluster},
	{"BUSY", CauseBusy}, {"ERR max number of clients", CauseBusy}, {"NOSCRIPT", CauseRefused},
	{"EXECABORT", CauseRefused}, // a transaction, where one of these was the answer to one of its commands
}

// errReplica says what INFO says.
var errReplica = errors.New("it is a read-only replica")

// CauseOf returns why the store failed with an error of this package or of its client; "": the error says nothing of that.
func CauseOf(err error) Cause {
	switch {
	case errors.Is(err, chat.ErrStoreAway):
		return CauseAway
	case errors.Is(err, errReplica):
		return CauseReadOnly
	}
	if refusedByServer(err) {
		var answered redis.Error
		errors.As(err, &answered)
		return causeOfAnswer(answered)
	}
	var step *stepError
	if errors.As(err, &step) {
		return CauseAway
	}
	return ""
}

func causeOfAnswer(answered redis.Error) Cause {
	for _, one := range causes {
		if strings.HasPrefix(answered.Error(), one.begins) {
			return one.cause
		}
	}
	return ""
}

// CauseOfCall is CauseOf for errors that are known to come from a call of the store, though nothing in them says so.
func CauseOfCall(err error) Cause {
	if cause := CauseOf(err); cause != "" {
		return cause
	}
	var network net.Error
	var disk *fs.PathError
	switch {
	case errors.As(err, &disk):
		return CausePersistence // of the embedded store
	case errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, errSilent):
		return CauseAway
	}
	return ""
}

// stepError is an error of a step that the store did not do.
type stepError struct {
	step string
	err  error
}

func (e *stepError) Error() string { return "store: " + e.step + ": " + e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

// writeProbe writes nothing, but does not declare so: Redis runs it only where it would run scripts that write, neither on a
// replica nor with its memory full. See "Eval flags" in its documentation of scripts.
const writeProbe = "#!lua\nreturn 1"

// Writable returns nil if every server of the store takes writes now.
func (s *Store) Writable(ctx context.Context) error {
	if s.embedded != nil {
		if err := s.embedded.Writable(); err != nil {
			return unavailable("write", err)
		}
		return nil
	}
	masters, err := s.masters(ctx)
	for _, one := range masters {
		if err != nil {
			break
		}
		var sha string
		if sha, err = one.Client.ScriptLoad(ctx, writeProbe).Result(); err == nil {
			err = one.Client.EvalSha(ctx, sha, nil).Err()
		}
	}
	return fail("write", err)
}
