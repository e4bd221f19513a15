package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/store"
	sqlarchive "github.com/chatd/chatd/store/archive"
	"github.com/chatd/chatd/store/blob"
	"github.com/chatd/chatd/store/doctor"
	"github.com/chatd/chatd/web/api"
)

// Examine examines the configured store, and repairs what it may. Its error says why it could not.
func (c Config) Examine(ctx context.Context, o doctor.Options, output io.Writer) (report doctor.Report, err error) {
	set, err := c.checkForStore()
	if err != nil {
		return report, err
	}
	s, err := set.open(ctx, store.Options{Existing: true}, newLogger(set, output))
	if errors.Is(err, errRunning) {
		return report, fmt.Errorf("%w, or have it examine its store with POST /v1/doctor", err)
	}
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	o.UserGroupsMax, o.ArchiveID = set.limits.UserGroupsMax, set.archiveID()
	if o.Blobs, err = examinedBlobs(ctx, s.Store, set); err != nil {
		return report, err
	}
	d, err := doctor.New(s.Store, o)
	if err != nil {
		return report, err
	}
	return d.Run(ctx)
}

// archiveID reads the id of the database that is configured, as it is now; nil: none is.
func (s settings) archiveID() func(context.Context) (string, error) {
	if !s.archived() {
		return nil
	}
	return func(ctx context.Context) (string, error) { return sqlarchive.Look(ctx, s.Archive) }
}

// examinedBlobs opens the folder or bucket that the files of a store are in; nil: none is configured, or there are no files.
func examinedBlobs(ctx context.Context, s *store.Store, set settings) (doctor.Blobs, error) {
	recorded, err := s.RecordBlobs(ctx, "")
	if err != nil || recorded == "" || set.Files == "" || set.Files == filesOff {
		return nil, err
	}
	if path, ok := strings.CutPrefix(set.Files, "dir:"); ok { // opening it would make one
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("CHATD_FILES: %w", err)
		}
	}
	kept, err := blob.Open(ctx, set.Files)
	if err == nil && kept.Identity() != recorded {
		err = errOtherBlobs
	}
	if err != nil {
		return nil, fmt.Errorf("CHATD_FILES: %w", err)
	}
	return kept, nil
}

// checkForStore reads the settings of the store, of its archive, and of how much it may hold: a look at them needs no others.
func (c Config) checkForStore() (settings, error) {
	s, p := c.read()
	s.checkStore(&p)
	s.checkArchive(&p)
	s.checkFiles(&p)
	s.setLimits()
	return s, errors.Join(p...)
}

// doctorDesk is the web.Doctor of a node.
type doctorDesk struct {
	*examination
	node *Node
}

func newDoctorDesk(n *Node) doctorDesk {
	return doctorDesk{newExamination(n.store, n.services.Notifications.Node(), n.log, func(ctx context.Context, o doctor.Options) (doctor.Report, error) {
		o.UserGroupsMax, o.ArchiveID = n.set.limits.UserGroupsMax, n.set.archiveID()
		if n.blobs != nil {
			o.Blobs = n.blobs
		}
		d, err := doctor.New(n.store.Store, o)
		if err != nil {
			return doctor.Report{}, err
		}
		return d.Run(ctx)
	}), n}
}

// Check checks the server of the store and the queues.
func (desk doctorDesk) Check(ctx context.Context) (api.DoctorReport, error) {
	n := desk.node
	d, err := doctor.New(n.store.Store, doctor.Options{ArchiveID: n.set.archiveID()})
	if err != nil {
		return api.DoctorReport{}, err
	}
	report, err := d.Check(ctx)
	if err != nil {
		return api.DoctorReport{}, chat.Unavailable(err)
	}
	s := report.Server
	shown := api.DoctorReport{Findings: []api.Finding{}, Server: api.StoreServer{
		Kind: s.Kind, Version: s.Version, Layout: int64(s.Layout), Partitions: int64(s.Partitions), Role: s.Role, Replicas: int64(s.Replicas),
		Persistence: s.Persistence, Eviction: s.Eviction, MemoryBytes: s.MemoryBytes, MemoryMaxBytes: s.MemoryMaxBytes,
		ClockAheadMs: s.ClockAheadMs, MissingRights: s.MissingRights,
	}}
	for _, f := range report.Findings {
		shown.Findings = append(shown.Findings, describeFinding(f))
	}
	return shown, nil
}
