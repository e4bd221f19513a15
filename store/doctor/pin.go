package doctor

import "context"

var (
	pinsScript    = newReader("pins", groupNames)
	fixPinsScript = newScript("fix_pins", groupNames)
)

// pins compares the pins of a group with what is pinned; name is that of the key.
func (d *groups) pins(ctx context.Context, g groupKeys, name string) error {
	r, err := d.run.do(ctx, pinsScript.On(g).Arg("key", name))
	if err != nil {
		return err
	}
	for i := 0; i+1 < len(r); i += 2 {
		f := Finding{Kind: KindGroup, Key: g.base + name, fix: d.runs(fixPinsScript.On(g).Arg("target", r.Text(i)))}
		switch r.Text(i + 1) {
		case "lost":
			f.Kind, f.Message, f.Repair = KindOrphan, "has message "+r.Text(i)+", of which the pin or the content was lost", "unpin it"
		case "stale":
			f.Message, f.Repair = "has message "+r.Text(i)+" otherwise than it reads in the log", "take it from the log"
		default:
			f.Message, f.Repair = "has message "+r.Text(i)+", but the settings do not say that anything is pinned", "say so"
		}
		if err := d.found(ctx, f); err != nil {
			return err
		}
	}
	return nil
}
