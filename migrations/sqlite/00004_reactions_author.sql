-- +goose Up

-- The reactions of a user that stand: an erasure takes them back.
CREATE INDEX reactions_author ON reactions (author, log, target, emoji) WHERE added;

-- +goose Down
DROP INDEX reactions_author;
