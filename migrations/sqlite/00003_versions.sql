-- +goose Up

-- version: how often the entries of the log were written. A writer that was held up does not replace what came since.
-- dropped: the highest id that was removed because of its age.
ALTER TABLE logs ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE logs ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE logs DROP COLUMN version;
ALTER TABLE logs DROP COLUMN dropped;
