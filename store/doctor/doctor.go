// Package doctor examines everything that chatd keeps in a store: whether the server is fit for it, whether every key
// is valid, and whether keys that duplicate information agree. It repairs what is derived from something else.
//
// It is safe to run beside a running server: each script reads a bounded part at one instant, and data that spans
// partitions counts as wrong only if no task is waiting to update it.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/files"
	"github.com/chatd/chatd/queue"
	"github.com/chatd/chatd/store"
	"github.com/chatd/chatd/store/conn"
	"github.com/chatd/chatd/store/layout"
)

// Kind is the kind of a finding.
type Kind string

// The kinds of findings. In addition there are those of package conn, about the server.
const (
	KindClock        Kind = "clock"        // the clocks of server and node differ
	KindArchive      Kind = "archive"      // the archive is away, or another database than the store is archived into
	KindRights       Kind = "rights"       // the server's user lacks rights that chatd needs
	KindType         Kind = "type"         // a key has another type than chatd's
	KindUnknown      Kind = "unknown"      // a key under the prefix that chatd does not know
	KindGroup        Kind = "group"        // the settings of a group are incomplete, or its counters do not agree
	KindLog          Kind = "log"          // a log has holes, or unreadable entries
	KindMember       Kind = "member"       // the lists of members do not agree
	KindCursor       Kind = "cursor"       // a cursor is outside the log, or belongs to nobody
	KindCount        Kind = "count"        // the counts of unread messages or reactions are wrong
	KindRetry        Kind = "retry"        // retry keys exceed their bounds
	KindListed       Kind = "listed"       // the list of all groups is wrong
	KindPublic       Kind = "public"       // the list of public groups is wrong
	KindOrphan       Kind = "orphan"       // leftovers of something that no longer exists
	KindIndex        Kind = "index"        // a user's index and the groups do not agree
	KindInbox        Kind = "inbox"        // an inbox does not add up
	KindSchedule     Kind = "schedule"     // a schedule and its task do not agree
	KindAnnouncement Kind = "announcement" // an announcement cannot be read, or does not agree with its task, parts or targets
	KindWebhook      Kind = "webhook"      // a webhook cannot be read, or data derived from the list does not agree with it
	KindName         Kind = "name"         // a list contains an impossible name, or unreadable data
	KindQueue        Kind = "queue"        // the tasks of a queue do not add up
	KindTask         Kind = "task"         // entries of a group wait for a task that does not exist
	KindFile         Kind = "file"         // records of files, their bytes, what names them and quotas do not agree
	KindTable        Kind = "table"        // the rows of a small table and their versions do not agree
	KindUnchecked    Kind = "unchecked"    // it changes too fast, or waits behind too many tasks, to be checked
)

// Finding is something that is wrong.
type Finding struct {
	Kind     Kind   `json:"kind"`
	Key      string `json:"key"` // in the store; empty: it is about the server
	Message  string `json:"message"`
	Repair   string `json:"repair"` // what a repair does; empty: a person has to decide
	Repaired bool   `json:"repaired"`

	fix func(context.Context) error
}

// Options configure an examination.
type Options struct {
	Repair        bool
	UserGroupsMax int // groups in an index: beyond it, one may be missing
	// ArchiveID, if set, reads the id that the archive has now. "": there is no database, or nothing of chatd in it.
	ArchiveID func(context.Context) (string, error)
	// Blobs, if set, is where the bytes of files are.
	Blobs Blobs
	// Found, if set, gets each finding as it is made.
	Found func(Finding)
	// Progress, if set, gets how many keys were examined, and roughly how many there are.
	Progress func(done, total int64)
}

// Blobs is what the doctor needs of a blob store.
type Blobs interface {
	List(ctx context.Context, after string, limit int) ([]files.Item, error)
	Remove(ctx context.Context, id string) error
}

// Report is the result.
type Report struct {
	Server   Server    `json:"server"`
	Keys     int64     `json:"keys"`   // examined
	Groups   int64     `json:"groups"` // of them, complete groups
	Users    int64     `json:"users"`  // with an index
	Complete bool      `json:"complete"`
	Findings []Finding `json:"findings"`
}

// Open returns how many findings still need action.
func (r Report) Open() (n int) {
	for _, f := range r.Findings {
		if !f.Repaired {
			n++
		}
	}
	return n
}

// Bounds of one examination.
const (
	keysStep     = 100   // keys of one slice
	entriesStep  = 250   // entries that one script examines
	findingsMax  = 1_000 // in a report; more would only be more of the same
	pendingMax   = 5_000 // waiting tasks that are read to learn what they will update
	windowTries  = 3     // for the reactions of a group that changes meanwhile
	retryKeysMax = 3_128 // of a sender: the default, and what comes until one message of 64 drops the oldest, beyond all chance
	suspectTries = 3     // how often a difference between partitions has to show
)

// Doctor examines one store. Its parts examine the keys of an owner each.
type Doctor struct {
	*exam
	announcements *announcements
	files         *storedFiles
	groups        *groups
	queues        *queues
	schedules     *schedules
	servers       *servers
	tables        *tables
	users         *users
	webhooks      *webhooks
}

// exam is what the parts have in common: the store, and what was found in it.
type exam struct {
	store  *store.Store
	opt    Options
	run    runner
	keys   keyspace
	core   *queue.Client
	report Report
	known  map[string]bool // findings so far, so that a key that comes twice is reported once
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
	e := &exam{store: s, opt: o, run: runner{s.Client()}, keys: keyspace{s.Prefix(), s.Partitions()}, core: core,
		report: Report{Findings: []Finding{}}, known: map[string]bool{}}
	tasks := &taskList{exam: e}
	files, indexes := &storedFiles{e, tasks, map[string]string{}}, &indexes{e, tasks}
	return &Doctor{exam: e, announcements: &announcements{e}, files: files, groups: &groups{e, files, &followers{e, tasks}, indexes}, queues: &queues{e},
		schedules: &schedules{e}, servers: &servers{e}, tables: &tables{e}, users: &users{e, files, indexes}, webhooks: &webhooks{e, tasks}}, nil
}

// Run examines everything. If ctx ends first, the report contains what was found until then, and says that it is not
// complete. Its error says why the store could not be examined.
func (d *Doctor) Run(ctx context.Context) (Report, error) {
	err := d.all(ctx)
	if ctx.Err() != nil {
		err = nil
	} else {
		d.report.Complete = err == nil
	}
	return d.report, err
}

// Check examines what takes a bounded number of steps, whatever is stored: the server and the queues.
func (d *Doctor) Check(ctx context.Context) (Report, error) {
	err := d.bounded(ctx)
	d.report.Complete = err == nil
	return d.report, err
}

func (d *Doctor) bounded(ctx context.Context) error {
	if err := d.servers.server(ctx); err != nil {
		return err
	}
	if err := d.servers.archive(ctx); err != nil {
		return err
	}
	return d.queues.queues(ctx)
}

func (d *Doctor) all(ctx context.Context) error {
	if err := d.bounded(ctx); err != nil {
		return err
	}
	if err := d.webhooks.webhooks(ctx); err != nil && !wrongType(err) {
		return err
	}
	if err := d.walk(ctx); err != nil {
		return err
	}
	if err := d.files.blobs(ctx); err != nil {
		return err
	}
	return d.schedules.scheduleTasks(ctx)
}

// found records a finding, and repairs it if that was asked for and is possible. What could not be repaired stays open.
func (d *exam) found(ctx context.Context, f Finding) error {
	id := string(f.Kind) + "\n" + f.Key + "\n" + f.Message
	if d.known[id] || len(d.report.Findings) >= findingsMax {
		return nil
	}
	d.known[id] = true
	if d.opt.Repair && f.fix != nil {
		if err := f.fix(ctx); err != nil {
			if ctx.Err() != nil || errors.Is(err, chat.ErrUnavailable) && !conn.TakesNoWrites(err) {
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

// walk examines every key, slice by slice.
func (d *Doctor) walk(ctx context.Context) error {
	client := d.store.Client()
	total, err := client.DBSize(ctx).Result()
	if err != nil {
		return fmt.Errorf("DBSIZE: %w", err)
	}
	for cursor := uint64(0); ; {
		keys, next, err := d.store.Conn().NextKeys(ctx, cursor, keysStep)
		if err != nil {
			return fmt.Errorf("SCAN: %w", err)
		}
		// The embedded store returns all of them at once.
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

// slice examines some keys, each by its noun.
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
			err = d.found(ctx, Finding{Kind: KindUnknown, Key: name, Message: "is not a key that chatd uses"})
		case types[i] != k.Type:
			err = d.found(ctx, Finding{Kind: KindType, Key: name, Message: fmt.Sprintf("is a %s, not a %s", types[i], k.Type)})
		default:
			err = d.key(ctx, k)
		}
		// A script that fails on a key of the wrong type does not name it: the walk will, when it comes to that key.
		if err = cmp.Or(ctx.Err(), err); err != nil && !wrongType(err) {
			return err
		}
	}
	return nil
}

// key examines one key, which has the type that it should have.
func (d *Doctor) key(ctx context.Context, k key) error {
	switch k.Owner() {
	case layout.Group:
		return d.groups.groupKey(ctx, k)
	case layout.User:
		return d.users.userKey(ctx, k)
	case layout.Schedule:
		return d.schedules.schedule(ctx, k)
	case layout.Announcement:
		return d.announcements.announcementKey(ctx, k)
	case layout.Table:
		return d.tables.tableKey(ctx, k)
	case layout.Partition:
		switch k.Pattern {
		case "tables":
			return d.tables.versions(ctx, k)
		case "invited":
			return d.groups.invitedList(ctx, k)
		case "names":
			return d.users.names(ctx, k)
		case "wants":
			return d.webhooks.wants(ctx, k)
		case "named":
			return d.groups.directory(ctx, k)
		case "announcements":
			return d.announcements.announced(ctx, k)
		case "avatars":
			return d.users.avatars(ctx, k)
		}
	}
	return nil
}
