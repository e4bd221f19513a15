-- +goose Up

-- version: how often the entries of the log were written. A writer that was held up does not replace what came since.
-- dropped: the highest id that was removed because of its age.
ALTER TABLE logs ADD COLUMN version BIGINT NOT NULL DEFAULT 1, ADD COLUMN dropped BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE logs DROP COLUMN version, DROP COLUMN dropped;
