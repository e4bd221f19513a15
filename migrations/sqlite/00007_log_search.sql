-- +goose Up

-- The words of each entry that is alive, once more, by log << 32 | id: those of a log lie together in the list of a word, and a
-- search in a few logs leaps to them. Small pages, because it reads one for each log. Entries whose log or id is too large for that
-- are left out. A change of the tokens needs a migration that builds this table anew. chatd fills it with the entries of before,
-- some thousands at a time, between this step and the next.
CREATE VIRTUAL TABLE log_search USING fts5 (words, content = '', columnsize = 0, detail = none, tokenize = 'ascii');
INSERT INTO log_search (log_search, rank) VALUES ('secure-delete', 1);
INSERT INTO log_search (log_search, rank) VALUES ('pgsz', 1000);

-- The last entry of before that is in it.
CREATE TABLE log_search_to (
  log INTEGER NOT NULL,
  id  INTEGER NOT NULL
);
INSERT INTO log_search_to VALUES (0, 0);

-- +goose Down
DROP TABLE log_search_to;
DROP TABLE log_search;
