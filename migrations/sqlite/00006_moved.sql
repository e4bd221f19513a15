-- +goose Up

-- chatd has moved all entries before this step, some thousands at a time.
INSERT INTO entries (doc, log, id, mark, author, kind, alive, target, edits, json)
  SELECT doc, log, id, mark, author, kind, alive, target, edits, json FROM entries_by_time;
DROP TABLE entries_by_time;

-- +goose Down
CREATE TABLE entries_by_time (
  doc    INTEGER PRIMARY KEY,
  log    INTEGER NOT NULL,
  id     INTEGER NOT NULL,
  mark   TEXT    NOT NULL,
  author TEXT    NOT NULL,
  kind   TEXT    NOT NULL,
  alive  BOOLEAN NOT NULL,
  target INTEGER,
  edits  TEXT,
  json   TEXT    NOT NULL
);
