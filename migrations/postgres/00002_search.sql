-- +goose Up

-- What chat/archive/tokens makes of the text of an entry that is alive; with it, behind a colon, what searches are
-- narrowed by: l and the number of the log, u and the hash of the author, k and the first letter of the kind. No token
-- holds a colon. A change of the tokens needs a migration that builds the column anew.
ALTER TABLE entries ADD COLUMN words tsvector;
CREATE INDEX entries_words ON entries USING gin (words);

-- +goose Down
DROP INDEX entries_words;
ALTER TABLE entries DROP COLUMN words;
