-- +goose Up

-- An erasure looks for what a user wrote: the index of words knows the messages that have content, and this one the rest.
CREATE INDEX entries_author ON entries (author, log, id) WHERE NOT alive;
DROP INDEX reactions_author;

-- +goose Down
CREATE INDEX IF NOT EXISTS reactions_author ON reactions (author, log, target, emoji) WHERE added;
DROP INDEX entries_author;
