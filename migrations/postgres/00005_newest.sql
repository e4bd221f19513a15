-- +goose Up

-- A search for common words reads the newest entries of the caller's logs until it has a page.
CREATE INDEX entries_newest ON entries (log, doc);

-- +goose Down
DROP INDEX entries_newest;
