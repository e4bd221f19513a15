-- +goose Up

-- What chat/archive/tokens makes of the text of each entry that is alive, by its doc. facets: l and the number of the
-- log, u and the hash of the author, k and the first letter of the kind. Tokens hold no ASCII but letters and digits.
-- A change of the tokens needs a migration that builds this table anew.
CREATE VIRTUAL TABLE search USING fts5 (words, facets, content = '', columnsize = 0, tokenize = 'ascii');
INSERT INTO search (search, rank) VALUES ('secure-delete', 1);

-- +goose Down
DROP TABLE search;
