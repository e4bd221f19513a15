package doctor

import (
	"context"
	"fmt"
)

// archive checks that the database which the store is archived into is there, and the one that is configured.
func (d *servers) archive(ctx context.Context) error {
	state, err := d.store.ArchiveState(ctx)
	if err != nil {
		return fmt.Errorf("what is recorded of the archive: %w", err)
	}
	if !state.On {
		return nil
	}
	f := Finding{Kind: KindArchive}
	if d.opt.ArchiveID == nil {
		f.Message = fmt.Sprintf("the store is archived into a database (id %q), and none is configured: set CHATD_ARCHIVE to it", state.ID)
		return d.found(ctx, f)
	}
	switch id, err := d.opt.ArchiveID(ctx); {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		f.Message = fmt.Sprintf("the archive is away: pages that Redis has trimmed and searches are refused, and messages wait in the store until it is back: %v", err)
	case id == "":
		f.Message = fmt.Sprintf("the archive is gone or empty: there is nothing of chatd in the database of CHATD_ARCHIVE, and the store is archived into the one with the id %q: restore that from a backup", state.ID)
	case id != state.ID:
		f.Message = fmt.Sprintf("CHATD_ARCHIVE names another database (id %q) than the one that the store is archived into (id %q)", id, state.ID)
	default:
		return nil
	}
	return d.found(ctx, f)
}
