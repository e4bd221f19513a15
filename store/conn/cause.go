package conn

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
)

// ErrAway is why a call fails at once: the server is down, and nothing was tried.
var ErrAway = errors.New("the store does not answer: nothing was tried")

// Cause is why a deployment does not do what it is asked, in a word for logs. There are few: operators act by them.
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

// causes maps the beginning of a server's answer to its cause. All of these may pass soon, so the caller should try again.
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

// CauseOf returns why a call failed, from an error of this package or of its client; "" if the error does not say.
func CauseOf(err error) Cause {
	switch {
	case errors.Is(err, ErrAway):
		return CauseAway
	case errors.Is(err, errReplica):
		return CauseReadOnly
	case Refused(err):
		var answered redis.Error
		errors.As(err, &answered)
		return causeOfAnswer(answered)
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

// CauseOfCall is CauseOf for errors that are known to come from a call, though nothing in them says so.
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

// TakesNoWrites tells whether a server refused a step because it takes no writes at all, as a replica does: it still reads.
func TakesNoWrites(err error) bool {
	switch CauseOf(err) {
	case CauseReadOnly, CauseReplicas, CausePersistence:
		return true
	default:
		return false
	}
}

// Refused tells whether the server itself answered with err; otherwise the connection to it failed.
func Refused(err error) bool {
	var answered redis.Error
	return errors.As(err, &answered) && !errors.Is(err, redis.ErrClosed)
}

// Broken tells whether err means that the connection broke, so that it is unknown whether the step was done. A server that
// does not answer in time is not asked again: it hangs, and the caller has waited long enough.
func Broken(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var network *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network) && !network.Timeout()
}
