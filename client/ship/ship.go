package ship

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chatd/chatd/client"
	"github.com/chatd/chatd/client/internal/disk"
)

const (
	segmentDefault = 8 << 20
	segmentMin     = 1 << 10
	segmentMax     = 64 << 20
	followEvery    = 200 * time.Millisecond // between two looks at files that are followed
	uploadsMax     = 5                      // of one part, if the server no longer has the upload that was begun
)

// Options configure Files. Group and Paths are required.
type Options struct {
	Group string
	// Paths are the files to ship, one after the other.
	Paths []string
	// Segment is how many bytes of a file make a part, uncompressed: 1 KiB to 64 MiB. 0: 8 MiB.
	Segment int64
	// State is the file that remembers what is shipped. Without it, Files must not be repeated: it would ship everything again.
	State string
	// Follow goes on as the files grow and are rotated, until ctx ends. There is no end mark: a later Files with the same
	// State and without Follow posts it.
	Follow bool
	// Linger is how long lines that do not fill a part wait for more with Follow. 0: 1 s.
	Linger time.Duration
	// Wait returns only when all members have acked the end mark and posted their results. Without it and without Follow, nobody
	// would read results, and none are posted.
	Wait bool
	// Delete removes files that are shipped: after the end mark, with Wait when all have finished, with Follow only what was
	// rotated.
	Delete bool
	// From are the processors whose results are believed; what others post is skipped. Empty: every member, each of whom gets the
	// parts. Results that are about no part of this shipment or the one before are skipped too.
	From []string
	// Progress is called when something has changed, from one goroutine at a time.
	Progress func(Progress)
	// Result is called with each result that a processor posts meanwhile, from one goroutine at a time.
	Result func(Result)
	// Notice is called with what a person should know: what is skipped.
	Notice func(text string)
}

// Progress is how far Files is.
type Progress struct {
	Ship  string
	Parts int64 // that the group has
	Bytes int64 // in them, uncompressed
	Total int64 // bytes to ship in all; 0 with Follow
	// Waiting is why the shipper waits, such as members who are too far behind, or a server that cannot be reached; nil: it
	// does not. Blockers are these members.
	Waiting  error
	Blockers []client.Blocker
	// Finished and Pending are the members who have acked the end mark and who have not, with Wait.
	Finished, Pending []string
}

// Files ships files to all members of a group: as parts of whole lines, compressed by zstd, each a message with a file, and
// then an end mark. The group must have overflow "block", so that no member misses a part, and a backlog_max of two parts and their
// results at least; while members are too far behind, Files waits. [Process] is the other side: it believes the owner and the admins
// of the group, and whose results it believes.
//
// A line that is longer than a part is cut; the part is then Open. At most two parts are in memory. With a State, a Files that was
// killed and is repeated goes on where it was, and makes no part twice (as long as the server knows its retry keys: 24 hours).
// After the end mark, another Files with this State ships what has been added since, as a new shipment. Only one Files may use a
// State at a time.
func Files(ctx context.Context, c *client.Client, opts Options) error {
	if err := opts.check(); err != nil {
		return err
	}
	s := &shipper{client: c, opts: opts, log: groupLog{client: c, group: opts.Group}, trust: trust{named: opts.From, notice: opts.Notice}}
	g, err := s.log.open(ctx)
	if err != nil {
		return err
	}
	if err := opts.fit(g.Group); err != nil {
		return err
	}
	if opts.State != "" {
		unlock, err := disk.Lock(opts.State)
		if err != nil {
			return err
		}
		defer unlock()
	}
	if s.state, err = loadShip(opts.State, opts.Group, g.Epoch); err != nil {
		return err
	}
	return s.run(ctx)
}

func (o *Options) check() error {
	if o.Segment == 0 {
		o.Segment = segmentDefault
	}
	if o.Linger <= 0 {
		o.Linger = time.Second
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	if o.Result == nil {
		o.Result = func(Result) {}
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	switch {
	case len(o.Paths) == 0:
		return errors.New("no file to ship")
	case o.Segment < segmentMin || o.Segment > segmentMax:
		return fmt.Errorf("segment: want %d to %d bytes", segmentMin, segmentMax)
	case o.Follow && o.Wait:
		return errors.New("follow and wait are mutually exclusive: what is followed has no end")
	}
	return nil
}

// partsUnderWay is how many parts a group must have room for: one that is being processed while the next one is posted.
const partsUnderWay = 2

// fit refuses a group in which members would miss parts, or wait for each other.
func (o *Options) fit(g client.Group) error {
	if g.Overflow != "block" {
		return fmt.Errorf("group %s has overflow %q: members who fall behind would miss parts; set it to block", g.ID, g.Overflow)
	}
	need := int64(partsUnderWay)
	of := ""
	if o.results() {
		need *= g.Members // a message of the shipper, and a result of each of the others
		of = fmt.Sprintf(" and the results of %d members", g.Members-1)
	}
	if g.BacklogMax < need {
		return fmt.Errorf("group %s has backlog_max %d: %d parts%s need %d at least, more to be quick; raise it (PATCH /v1/groups/%s)",
			g.ID, g.BacklogMax, partsUnderWay, of, need, g.ID)
	}
	return nil
}

// results reports whether the shipper stays to take the results of its parts.
func (o *Options) results() bool { return o.Wait || o.Follow }

type shipper struct {
	client *client.Client
	opts   Options
	log    groupLog // used by one goroutine at a time
	trust  trust    // likewise
	total  int64

	mu    sync.Mutex // guards all below
	state *shipState
	shown Progress
	grown time.Time // when something new came last
}

func (s *shipper) run(ctx context.Context) error {
	s.total = s.remaining()
	shipping, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	collected := s.collect(shipping, cancel)
	err := s.ship(shipping)
	if err == nil && s.opts.Wait {
		err = s.waitAll(shipping)
	}
	if failed := collected(); failed != nil {
		err = failed
	}
	if err != nil || s.opts.Follow {
		return err
	}
	if err := s.retry(ctx, func() error { return s.drain(ctx) }); err != nil {
		return err
	}
	if s.opts.Delete {
		return s.deleteShipped()
	}
	return nil
}

// remaining is how many bytes are left to ship, as far as that is known at the start.
func (s *shipper) remaining() int64 {
	var n int64
	for _, path := range s.opts.Paths {
		if info, err := os.Stat(path); err == nil && !s.opts.Follow {
			n += info.Size()
			for _, f := range s.state.Files {
				if f.is(inodeOf(info), path) && f.Offset <= info.Size() {
					n -= f.Offset
					break
				}
			}
		}
	}
	return n
}

// ship cuts and ships until the files, or ctx, end.
func (s *shipper) ship(ctx context.Context) error {
	if s.state.Ending {
		if err := s.end(ctx); err != nil {
			return err
		}
	}
	if s.state.End == 0 {
		s.total += s.state.Bytes
	}
	segments := make(chan *segment)
	cutter, err := newCutter(s.opts, &s.mu, s.state, segments)
	if err != nil {
		return err
	}
	cutting, stop := context.WithCancel(ctx)
	failed := make(chan error, 1)
	go func() {
		failed <- cutter.run(cutting)
		close(segments)
	}()
	for seg := range segments {
		if err == nil {
			err = s.segment(ctx, seg)
		}
		if err != nil {
			stop()
		}
	}
	stop()
	if cut := <-failed; err == nil {
		err = cut
	}
	if err != nil || s.state.End != 0 {
		return err // nothing was added since the end mark
	}
	return s.end(ctx)
}

// segment uploads a part and posts its message.
func (s *shipper) segment(ctx context.Context, seg *segment) error {
	if seg.drained {
		return s.drained(seg)
	}
	s.mu.Lock()
	if s.state.End != 0 {
		s.state.renew()
	}
	s.state.Part = &seg.pendingState
	part := partData{Ship: s.state.Ship, Number: s.state.Parts + 1, Name: filepath.ToSlash(seg.Path), Offset: seg.Offset, Bytes: seg.Bytes,
		SHA256: seg.SHA256, Open: seg.Open, NoResult: !s.opts.results()}
	err := s.state.save()
	s.mu.Unlock()
	if err == nil {
		err = s.retry(ctx, func() error { return s.post(ctx, seg, part) })
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.state.Part = nil
	s.state.Parts, s.state.Bytes, s.state.Digest = part.Number, s.state.Bytes+seg.Bytes, seg.digest
	seg.state.advance(seg)
	err = s.state.save()
	s.mu.Unlock()
	s.show(func(p *Progress) { p.Waiting, p.Blockers = nil, nil })
	return err
}

// post makes one attempt at a part. All its keys are the same in every attempt, so that the group gets the part once.
func (s *shipper) post(ctx context.Context, seg *segment, part partData) error {
	data, err := json.Marshal(shipped{Part: &part})
	if err != nil {
		return permanent(err)
	}
	file := client.FileDraft{Name: partName(part), Size: int64(len(seg.data)), Type: "application/zstd", SHA256: seg.sha256}
	for upload := int64(1); ; upload++ {
		file.Key = retryKey("file", fmt.Sprintf("%s-%d", part.Ship, part.Number), upload)
		id, err := s.client.UploadFile(ctx, s.opts.Group, file, bytes.NewReader(seg.data))
		if err == nil {
			draft := client.Draft{Kind: client.KindData, Data: data, Files: []string{id}, ClientID: retryKey("part", part.Ship, part.Number)}
			_, err = s.client.Send(ctx, s.opts.Group, draft)
		}
		switch code := client.CodeOf(err); {
		case err == nil:
			return nil
		case id != "" && code == client.CodeKeyReused:
			// The part was posted with an earlier upload, and its file may be gone already.
			_ = s.client.RemoveFile(ctx, s.opts.Group, id) // else it expires
			return nil
		case upload < uploadsMax && (code == client.CodeNotFound || code == client.CodeKeyReused || id != "" && code == client.CodeInvalid):
			// The earlier upload of this key is gone, or was compressed otherwise: begin another one.
		default:
			return err
		}
	}
}

// partName is the name of the file of a part.
func partName(part partData) string {
	base := strings.Map(func(r rune) rune {
		if r < ' ' || r == '\\' || r > '~' {
			return '_'
		}
		return r
	}, filepath.Base(filepath.FromSlash(part.Name)))
	return fmt.Sprintf("%.200s.%06d.zst", base, part.Number)
}

// end posts the end mark.
func (s *shipper) end(ctx context.Context) error {
	digest, err := s.state.digest()
	if err != nil {
		return err
	}
	end := endData{Ship: s.state.Ship, Parts: s.state.Parts, Bytes: s.state.Bytes, SHA256: fmt.Sprintf("%x", digest.Sum(nil))}
	data, err := json.Marshal(shipped{End: &end})
	if err != nil {
		return err
	}
	s.state.Ending = true
	if err := s.state.save(); err != nil {
		return err
	}
	var sent client.Sent
	err = s.retry(ctx, func() (err error) {
		sent, err = s.client.Send(ctx, s.opts.Group, client.Draft{Kind: client.KindData, Data: data, ClientID: retryKey("end", end.Ship, 0)})
		return err
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Ending, s.state.End = false, sent.ID
	return s.state.save()
}

// drained removes a rotated file that is shipped to its end if that is wanted, and else remembers its new name.
func (s *shipper) drained(seg *segment) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, err := locate(seg.Path, seg.Inode)
	if err == nil && s.opts.Follow && s.opts.Delete {
		err = removeShipped(name, seg.state)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return permanent(err)
	}
	if seg.state.Path = name; name == "" {
		seg.state.Path = seg.Path
	}
	s.state.Files = slices.DeleteFunc(s.state.Files, func(f *fileState) bool {
		_, err := locate(f.Path, f.Inode)
		return err != nil
	})
	return s.state.save()
}

// removeShipped removes a file unless it has grown or is another one.
func removeShipped(name string, state *fileState) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !state.is(inodeOf(info), name) || info.Size() != state.Offset {
		return nil
	}
	return os.Remove(name)
}

// deleteShipped removes the files of this shipment.
func (s *shipper) deleteShipped() error {
	for _, f := range s.state.Files {
		if !slices.Contains(s.opts.Paths, f.Path) || f.Shipped {
			continue
		}
		if err := removeShipped(f.Path, f); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if _, err := os.Stat(f.Path); errors.Is(err, os.ErrNotExist) {
			f.Shipped = true
		}
	}
	return s.state.save()
}
