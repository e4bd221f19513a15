// Package doctor looks at everything that chatd keeps in a store: whether the server is fit to hold it, whether every key
// is what it should be, and whether keys that say the same thing agree. It repairs what is derived from something else.
//
// It is safe beside a running server: each script reads a bounded part at one instant, and what spans partitions counts as
// wrong only if no task is waiting to bring it in line.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/queue"
)

// Kind says what a finding is about.
type Kind string

// The kinds of findings. Beside these there are those of store.Condition, about the server.
const (
	KindClock        Kind = "clock"        // the clocks of server and node differ
	KindRights       Kind = "rights"       // the user on the server may not do what chatd does
	KindType         Kind = "type"         // a key is of another type than chatd's
	KindUnknown      Kind = "unknown"      // a key under the prefix that chatd does not know
	KindGroup        Kind = "group"        // the settings of a group are incomplete, or its counters do not agree
	KindLog          Kind = "log"          // a log has holes, or holds what cannot be read
	KindMember       Kind = "member"       // the lists of members do not agree
	KindCursor       Kind = "cursor"       // a cursor is outside the log, or nobody's
	KindCount        Kind = "count"        // what unread messages or reactions are counted by is wrong
	KindRetry        Kind = "retry"        // retry keys are out of bounds
	KindPublic       Kind = "public"       // the list of public groups is wrong
	KindOrphan       Kind = "orphan"       // what belonged to something that is gone
	KindIndex        Kind = "index"        // a user's index and the groups do not agree
	KindInbox        Kind = "inbox"        // an inbox does not add up
	KindSchedule     Kind = "schedule"     // a schedule and its task do not agree
	KindAnnouncement Kind = "announcement" // an announcement cannot be read, or does not agree with its task, parts or targets
	KindWebhook      Kind = "webhook"      // a webhook cannot be read, or what is derived of the list does not agree
	KindName         Kind = "name"         // a list names what can be nobody, or holds what cannot be read
	KindQueue        Kind = "queue"        // the tasks of a queue do not add up
	KindUnchecked    Kind = "unchecked"    // something changes too fast, or waits behind too many tasks, to be checked
)

// Finding is something that is not as it should be.
type Finding struct {
	Kind     Kind   `json:"kind"`
	Key      string `json:"key"` // in the store; empty: about the server
	Message  string `json:"message"`
	Repair   string `json:"repair"` // what a repair does; empty: a person has to decide
	Repaired bool   `json:"repaired"`

	fix func(context.Context) error
}

// Options say how to look.
type Options struct {
	Repair        bool
	UserGroupsMax int // groups in an index: above it one may be missing
	// Found gets each finding as it is made. Nil: nobody does.
	Found func(Finding)
	// Progress gets how many keys were looked at, and about how many there are. Nil: nobody does.
	Progress func(done, total int64)
}

// Report is what came of it.
type Report struct {
	Server   Server    `json:"server"`
	Keys     int64     `json:"keys"`   // looked at
	Groups   int64     `json:"groups"` // of them, complete groups
	Users    int64     `json:"users"`  // with an index
	Complete bool      `json:"complete"`
	Findings []Finding `json:"findings"`
}

// Open is how many findings are left to do something about.
func (r Report) Open() (n int) {
	for _, f := range r.Findings {
		if !f.Repaired {
			n++
		}
	}
	return n
}

// Bounds of one look.
const (
	keysStep     = 100   // keys of one slice
	entriesStep  = 250   // entries that one script looks at
	findingsMax  = 1_000 // in a report: what follows is the same again
	pendingMax   = 5_000 // waiting tasks that are read to learn what they will bring in line
	windowTries  = 3     // at the reactions of a group that changes meanwhile
	retryKeysMax = 1_128 // of a sender: the default and what comes between two cuts
	suspectTries = 3     // times that a difference between partitions has to show
)

// Doctor looks at one store.
type Doctor struct {
	store  *store.Store
	opt    Options
	run    runner
	keys   keyspace
	core   *queue.Client
	report Report
	known  map[string]bool // findings made, so that a key that comes twice is reported once
}

// New makes a Doctor of a store.
func New(s *store.Store, o Options) (*Doctor, error) {
	if o.UserGroupsMax == 0 {
		o.UserGroupsMax = chat.DefaultLimits().UserGroupsMax
	}
	core, err := s.TaskClient(queue.Options{Queue: chat.QueueCore})
	if err != nil {
		return nil, err
	}
	return &Doctor{store: s, opt: o, run: runner{s.Client()}, keys: keyspace{s.Prefix(), s.Partitions()}, core: core,
		report: Report{Findings: []Finding{}}, known: map[string]bool{}}, nil
}

// Run looks at everything. If ctx ends first, the report says what was seen until then, and that it is not complete. Its
// error says why it could not look.
func (d *Doctor) Run(ctx context.Context) (Report, error) {
	err := d.all(ctx)
	if ctx.Err() != nil {
		err = nil
	} else {
		d.report.Complete = err == nil
	}
	return d.report, err
}

// Check looks at what takes a bounded number of steps, whatever is stored: the server and the queues.
func (d *Doctor) Check(ctx context.Context) (Report, error) {
	err := d.bounded(ctx)
	d.report.Complete = err == nil
	return d.report, err
}

func (d *Doctor) bounded(ctx context.Context) error {
	if err := d.server(ctx); err != nil {
		return err
	}
	return d.queues(ctx)
}

func (d *Doctor) all(ctx context.Context) error {
	if err := d.bounded(ctx); err != nil {
		return err
	}
	if err := d.webhooks(ctx); err != nil && !wrongType(err) {
		return err
	}
	if err := d.walk(ctx); err != nil {
		return err
	}
	return d.scheduleTasks(ctx)
}

// found notes a finding, and repairs it where that is asked for and possible. What could not be repaired stays open.
func (d *Doctor) found(ctx context.Context, f Finding) error {
	id := string(f.Kind) + "\n" + f.Key + "\n" + f.Message
	if d.known[id] || len(d.report.Findings) >= findingsMax {
		return nil
	}
	d.known[id] = true
	if d.opt.Repair && f.fix != nil {
		if err := f.fix(ctx); err != nil {
			if ctx.Err() != nil || errors.Is(err, chat.ErrUnavailable) {
				return err
			}
			f.Message += fmt.Sprintf(" (not repaired: %v)", err)
		} else {
			f.Repaired = true
		}
	}
	d.report.Findings = append(d.report.Findings, f)
	if d.opt.Found != nil {
		d.opt.Found(f)
	}
	return nil
}

// walk looks at every key, slice by slice.
func (d *Doctor) walk(ctx context.Context) error {
	client := d.store.Client()
	total, err := client.DBSize(ctx).Result()
	if err != nil {
		return fmt.Errorf("DBSIZE: %w", err)
	}
	for cursor := uint64(0); ; {
		keys, next, err := client.Scan(ctx, cursor, "", keysStep).Result()
		if err != nil {
			return fmt.Errorf("SCAN: %w", err)
		}
		// The embedded store answers with all of them.
		for len(keys) > 0 {
			n := min(len(keys), keysStep)
			if err := d.slice(ctx, keys[:n]); err != nil {
				return err
			}
			keys = keys[n:]
			d.report.Keys += int64(n)
			if d.opt.Progress != nil {
				d.opt.Progress(d.report.Keys, max(total, d.report.Keys))
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// slice looks at some keys, each by what it is of.
func (d *Doctor) slice(ctx context.Context, names []string) error {
	types, err := d.types(ctx, names)
	if err != nil {
		return err
	}
	for i, name := range names {
		k, ok := d.keys.parse(name)
		switch {
		case types[i] == "none" || !ok && !d.keys.owns(name):
			continue // gone meanwhile, or of another program
		case !ok:
			err = d.found(ctx, Finding{Kind: KindUnknown, Key: name, Message: "chatd keeps nothing under this name"})
		case types[i] != k.kind:
			err = d.found(ctx, Finding{Kind: KindType, Key: name, Message: fmt.Sprintf("is a %s, not a %s", types[i], k.kind)})
		default:
			err = d.key(ctx, k)
		}
		// A script that meets a key of another type names no key: the walk does when it comes to that one.
		if err = cmp.Or(ctx.Err(), err); err != nil && !wrongType(err) {
			return err
		}
	}
	return nil
}

// key looks at one key, of the type that it should have.
func (d *Doctor) key(ctx context.Context, k key) error {
	switch k.of {
	case ofGroup:
		return d.groupKey(ctx, k)
	case ofUser:
		return d.userKey(ctx, k)
	case ofSchedule:
		return d.schedule(ctx, k)
	case ofAnnouncement:
		return d.announcementKey(ctx, k)
	case ofPartition:
		switch k.what {
		case "wants":
			return d.wants(ctx, k)
		case "announcements":
			return d.announced(ctx, k)
		}
	}
	return nil
}
