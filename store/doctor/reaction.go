package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// window is the reactions of a group at one instant.
type window struct {
	last, stored int64
	counts       map[string][]string // target -> `<target> <emoji> <count>`
	records      map[string]map[string]int64
}

// reactions compares the counts of reactions with the records of who reacted. Both are read page by page. If the group
// changes meanwhile they are read again, and after some tries left for the next time.
func (d *groups) reactions(ctx context.Context, g groupKeys) error {
	for range windowTries {
		w, whole, err := d.window(ctx, g)
		if err != nil {
			return err
		}
		if whole {
			return d.compareReactions(ctx, g, w)
		}
	}
	return d.found(ctx, Finding{Kind: KindUnchecked, Key: g.base + "reactions", Message: "changes too fast to be checked; run the doctor again later"})
}

// window reads counts and records. whole means that nothing changed meanwhile.
func (d *groups) window(ctx context.Context, g groupKeys) (w window, whole bool, err error) {
	w = window{last: -1, counts: map[string][]string{}, records: map[string]map[string]int64{}}
	for _, set := range []string{"reactions", "reacted"} {
		for from := 0; ; from += entriesStep {
			r, err := d.run.do(ctx, windowScript.On(g).Key("set", g.base+set).Arg("from", from).Arg("limit", entriesStep))
			if err != nil {
				return w, false, err
			}
			if w.last < 0 {
				w.last, w.stored = r.Number(0), r.Number(1)
			}
			if w.last != r.Number(0) || w.stored != r.Number(1) {
				return w, false, nil
			}
			page := r.Texts(2)
			for _, member := range page {
				w.add(set, member)
			}
			if len(page) < entriesStep {
				break
			}
		}
	}
	return w, true, nil
}

func (w *window) add(set, member string) {
	target, rest, _ := strings.Cut(member, " ")
	if set == "reactions" {
		w.counts[target] = append(w.counts[target], member)
		return
	}
	_, emoji, _ := strings.Cut(rest, " ")
	if id, err := strconv.ParseInt(target, 10, 64); err != nil || id <= w.last-w.stored {
		return // removed, or its message is trimmed
	}
	if w.records[target] == nil {
		w.records[target] = map[string]int64{}
	}
	w.records[target][emoji]++
}

func (d *groups) compareReactions(ctx context.Context, g groupKeys, w window) error {
	targets := map[string]bool{}
	for target := range w.counts {
		targets[target] = true
	}
	for target := range w.records {
		targets[target] = true
	}
	for _, target := range slices.Sorted(maps.Keys(targets)) {
		var want []string
		for emoji, n := range w.records[target] {
			want = append(want, fmt.Sprintf("%s %s %d", target, emoji, n))
		}
		slices.Sort(want)
		got := w.counts[target]
		slices.Sort(got)
		if id, _ := strconv.ParseInt(target, 10, 64); slices.Equal(got, want) || id <= w.last-w.stored {
			continue
		}
		if len(got) == 0 {
			if deleted, err := d.deleted(ctx, g, target); err != nil {
				return err
			} else if deleted {
				continue
			}
		}
		f := Finding{Kind: KindCount, Key: g.base + "reactions", Message: fmt.Sprintf("counts %q for message %s, but the records say %q", got, target, want),
			Repair: "recount", fix: d.runs(fixReactionsScript.On(g).Arg("last", w.last).Arg("stored", w.stored).Arg("target", target).
				List("counts", want))}
		if err := d.found(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// deleted reports whether a message is deleted: the records of its reactions stay until they are trimmed.
func (d *groups) deleted(ctx context.Context, g groupKeys, id string) (bool, error) {
	r, err := d.run.do(ctx, editsScript.On(g).Arg("id", id))
	return err == nil && r.Text(0) == "x", err
}
