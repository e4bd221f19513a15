package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/audit"
	"github.com/chatd/chatd/chat/reports"
)

var _ reports.Store = (*Reports)(nil)

var (
	reportPutScript    = newScript("report/put", groupNames)
	reportListScript   = newReader("report/list", groupNames)
	reportTakeScript   = newScript("report/take", groupNames)
	reportSettleScript = newFreeing("report/settle", groupNames)
	reportExpireScript = newFreeing("report/expire", groupNames)
)

// Reports are the open reports of messages.
type Reports struct {
	*base
	groups *Groups
}

// PutReport keeps a report, or finds the one that the member made of the message before.
func (s *Reports) PutReport(ctx context.Context, f reports.Filed) (r reports.Report, created bool, err error) {
	k, id := s.keys.group(f.Group), fmt.Sprint(f.Target)
	got, err := s.runSafe(ctx, reportPutScript.On(k).Arg("user", f.By).Arg("group", f.Group).Arg("report", f.ID).Arg("target", id).
		Arg("below", belowText(f.Below)).Arg("head", id+" "+f.Was.Mark).Arg("edits", encodeEdits(f.Was.Edits)).Arg("json", f.Was.JSON).
		Arg("from", f.From).Arg("record", chat.Encode(f.Report)).Arg("event", chat.Encode(f.Event())).
		Arg("keep_ms", reports.Keep.Milliseconds()).Arg("open_max", s.limits.GroupReportsMax).Arg("mine_max", s.limits.MemberReportsMax).
		Arg("reported_id", k.taskID()).Arg("end_id", k.taskID()))
	if err != nil {
		return r, false, err
	}
	r, err = asReport(got.text(3))
	// A repeat after a lost answer finds what the first try has written.
	return r, got.number(1) == 1 || r.ID == f.ID, err
}

// ReportsBy reads the reports of a group that a user made.
func (s *Reports) ReportsBy(ctx context.Context, group, user string) (list []reports.Report, err error) {
	var all *redis.MapStringStringCmd
	err = s.reads(ctx, func(pipe redis.Pipeliner) { all = pipe.HGetAll(ctx, s.keys.group(group).reporters()) })
	if err != nil {
		return nil, err
	}
	var refs []reports.Ref
	for id, text := range all.Val() {
		if fields := strings.Fields(text); len(fields) > 1 && fields[1] == user {
			refs = append(refs, reports.Ref{ID: id, Group: group})
		}
	}
	slices.SortFunc(refs, func(a, b reports.Ref) int { return strings.Compare(a.ID, b.ID) })
	return s.ReadReports(ctx, refs)
}

// GroupReports pages through the open reports of a group, the newest first.
func (s *Reports) GroupReports(ctx context.Context, by chat.Caller, group, after string, limit, bytesMax int) (list []reports.Report, next string, err error) {
	got, err := s.runSafe(ctx, reportListScript.On(s.keys.group(group)).Arg("caller", by.User).Arg("operator", by.Admin).
		Arg("after", after).Arg("limit", limit).Arg("bytes_max", bytesMax))
	if err != nil {
		return nil, "", err
	}
	for i := 2; i < len(got); i++ {
		r, err := asReport(got.text(i))
		if err != nil {
			return nil, "", err
		}
		list = append(list, r)
	}
	return list, got.text(1), nil
}

// AllReports names the open reports of all groups, the newest first: a page of each partition, merged.
func (s *Reports) AllReports(ctx context.Context, after string, count int) (list []reports.Ref, more bool, err error) {
	if after != "" {
		after += "\x00\xff" // behind the group of it, whichever that is
	}
	entries, more, err := s.groups.lexical(ctx, (*partKeys).reported, "", after, count)
	for _, entry := range entries {
		id, group, _ := strings.Cut(entry, "\x00")
		list = append(list, reports.Ref{ID: id, Group: group})
	}
	return list, more, err
}

// ReadReports reads reports that are open.
func (s *Reports) ReadReports(ctx context.Context, refs []reports.Ref) ([]reports.Report, error) {
	var found []*redis.StringCmd
	err := s.reads(ctx, func(pipe redis.Pipeliner) {
		found = found[:0]
		for _, ref := range refs {
			found = append(found, pipe.HGet(ctx, s.keys.group(ref.Group).reports(), ref.ID))
		}
	})
	if err != nil || len(refs) == 0 {
		return nil, err
	}
	var list []reports.Report
	for _, text := range found {
		if text.Val() == "" {
			continue // closed meanwhile
		}
		r, err := asReport(text.Val())
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// ReportGroup tells in which group a report is.
func (s *Reports) ReportGroup(ctx context.Context, id string) (string, error) {
	entries, _, err := s.groups.lexical(ctx, (*partKeys).reported, id+"\x00", "", 1)
	if err != nil {
		return "", err
	}
	if len(entries) == 0 {
		return "", chat.ErrNotFound
	}
	return strings.TrimPrefix(entries[0], id+"\x00"), nil
}

// TakeReport takes an open report for a time.
func (s *Reports) TakeReport(ctx context.Context, by chat.Caller, r reports.Ref, lease string, d time.Duration) (reports.Report, error) {
	got, err := s.runSafe(ctx, reportTakeScript.On(s.keys.group(r.Group)).Arg("caller", by.User).Arg("operator", by.Admin).
		Arg("report", r.ID).Arg("lease", lease).Arg("lease_ms", d.Milliseconds()))
	if err != nil {
		return reports.Report{}, err
	}
	return asReport(got.text(1))
}

// SettleReport closes a report that lease has taken, or gives it back.
func (s *Reports) SettleReport(ctx context.Context, r reports.Ref, lease string, closed *audit.Entry) error {
	note := audit.Entry{}
	if closed != nil {
		note = *closed
	}
	return s.doSafe(ctx, s.noted(reportSettleScript.On(s.keys.group(r.Group)).Arg("group", r.Group).Arg("report", r.ID).Arg("lease", lease).
		Arg("close", closed != nil), note))
}

// ExpireReports removes the reports of a group that have been open for too long.
func (s *Reports) ExpireReports(ctx context.Context, group string) error {
	k := s.keys.group(group)
	return s.doSafe(ctx, reportExpireScript.On(k).Arg("group", group).Arg("keep_ms", reports.Keep.Milliseconds()).Arg("end_id", k.taskID()))
}

// asReport reads a record.
func asReport(text string) (r reports.Report, err error) {
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return r, broke("reports", fmt.Errorf("a report cannot be read: %w", err))
	}
	return r, nil
}
