package store

import (
	"context"
	"fmt"
)

var layoutScript = newFreeing("layout/record", partNames)

func (s *Store) layoutCall(partitions int) call {
	return layoutScript.On(s.keys.part(0)).Arg("version", layoutVersion).Arg("partitions", max(partitions, 1))
}

// checkLayout records how the store is arranged when it is new, and refuses one that is arranged otherwise: with another
// number of partitions every key would be looked for in the wrong place.
func (s *Store) checkLayout(ctx context.Context, partitions int) error {
	r, err := s.run(ctx, s.layoutCall(partitions))
	if err != nil {
		return fmt.Errorf("store: layout: %w", err)
	}
	has := int(r.number(2))
	if v := r.number(1); v != layoutVersion {
		return fmt.Errorf("store: its layout is version %d, this chatd knows version %d: use the chatd that wrote it, "+
			"or export and import", v, layoutVersion)
	}
	if partitions != 0 && partitions != has {
		return fmt.Errorf("store: it has %d partitions, %d were asked for: export and import change that", has, partitions)
	}
	if has < 1 {
		return fmt.Errorf("store: its layout names %d partitions", has)
	}
	s.keys = newKeyspace(s.keys.prefix, has)
	return nil
}
