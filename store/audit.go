package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
)

var _ audit.Store = (*Audits)(nil)

var auditEraseScript = newFreeing("audit/erase", partNames)

// Audits are the entries of the audit. The scripts that do what they tell write them.
type Audits struct {
	*base
	groups *Groups
}

// noted adds to a call what its script writes into the audit.
func (s *base) noted(c call, e audit.Entry) call {
	id, entry := s.entryOf(e)
	return s.among(c, e).Arg("audit_id", id).Arg("audited", entry)
}

// among tells a call among which entries those that its script writes are kept: they are all like e.
func (s *base) among(c call, e audit.Entry) call {
	if e.OfServer() {
		c = c.Beside("audit", ":server")
	}
	return c.Arg("audits_max", s.auditsMax())
}

// entryOf is an entry as it is stored, but for the epoch of its group: its id, and what stands behind the epoch. Both are empty for
// one without an action, which is none.
func (s *base) entryOf(e audit.Entry) (id, entry string) {
	if e.Action == "" {
		return "", ""
	}
	e = e.Stamp(s.later(time.Now().UnixMilli()))
	return e.ID, endedEntry(e)
}

// endedEntry is an entry without its id, and whose partition it is in.
func endedEntry(e audit.Entry) string {
	e.ID = ""
	return string(chat.Encode(e)) + "\x00" + cmp.Or(e.Group, e.User)
}

// later is a later time for each entry of this node, so that their order is that in which they were made.
func (s *base) later(nowMs int64) int64 {
	for {
		before := s.audited.Load()
		now := max(nowMs, before+1)
		if s.audited.CompareAndSwap(before, now) {
			return now
		}
	}
}

// auditsLeast is how many entries a partition keeps though there are many partitions: a group is in one of them.
const auditsLeast = 10_000

// auditsMax is how many entries a partition keeps of groups, and how many of the server.
func (s *base) auditsMax() int {
	return max(s.limits.AuditMax/s.partitions(), min(s.limits.AuditMax, auditsLeast))
}

// audits are where a partition keeps entries.
var audits = []func(*partKeys) string{(*partKeys).audit, (*partKeys).auditServer}

// Audit reads entries from behind an id on, the newest first.
func (s *Audits) Audit(ctx context.Context, group, after string, count int) (list []audit.Record, more bool, err error) {
	parts := s.keys.partitions
	if group != "" {
		parts = []*partKeys{s.keys.home(group)}
	}
	if after != "" {
		after += "!" // behind the blank that follows an id
	}
	stored, more, err := s.groups.lexicalIn(ctx, parts, audits, "", after, count)
	for _, one := range stored {
		r, err := asAudited(one)
		if err != nil {
			return nil, false, err
		}
		list = append(list, r)
	}
	return list, more, err
}

// auditPage is how many entries an erasure looks at in one step.
const auditPage = 500

// EraseAudit takes the name of a user out of all entries, or out of those that only picks.
func (s *Audits) EraseAudit(ctx context.Context, user string, only func(audit.Record) bool) error {
	for _, p := range s.keys.partitions {
		for i, list := range audits {
			for after, more := "", true; more; {
				page, others, err := s.groups.lexicalIn(ctx, []*partKeys{p}, audits[i:i+1], "", after, auditPage)
				if err != nil {
					return err
				}
				if err := s.eraseIn(ctx, auditEraseScript.On(p).Key("list", list(p)), page, user, only); err != nil {
					return err
				}
				if more = others; more {
					after = page[len(page)-1]
				}
			}
		}
	}
	return nil
}

// eraseIn takes the name of a user out of entries of the list of a call.
func (s *Audits) eraseIn(ctx context.Context, c call, entries []string, user string, only func(audit.Record) bool) error {
	found := false
	for _, was := range entries {
		if !strings.Contains(was, user) {
			continue
		}
		r, err := asAudited(was)
		if err != nil {
			return err
		}
		if e, named := r.Without(user); named && (only == nil || only(r)) {
			c, found = c.MoreArgs("entries", "was", was, "now", e.ID+" "+cmp.Or(r.Epoch, "-")+" "+endedEntry(e)), true
		}
	}
	if !found {
		return nil
	}
	return s.doSafe(ctx, c)
}

// asAudited reads an entry.
func asAudited(stored string) (r audit.Record, err error) {
	id, rest, _ := strings.Cut(stored, " ")
	epoch, rest, _ := strings.Cut(rest, " ")
	text, _, _ := strings.Cut(rest, "\x00")
	if err := json.Unmarshal([]byte(text), &r.Entry); err != nil {
		return r, broke("audit", fmt.Errorf("an entry cannot be read: %w", err))
	}
	r.ID = id
	if epoch != "-" {
		r.Epoch = epoch
	}
	return r, nil
}
