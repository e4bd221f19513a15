-- +goose Up

-- The entries of a log lie together, so that a page of history needs a few pages of the file, whatever else is in it. The entries
-- of before move over from entries_by_time between this step and the next.
DROP INDEX entries_log;
DROP INDEX entries_target;
ALTER TABLE entries RENAME TO entries_by_time;
CREATE TABLE entries (
  log    INTEGER NOT NULL,
  id     INTEGER NOT NULL,
  doc    INTEGER NOT NULL,
  mark   TEXT    NOT NULL,
  author TEXT    NOT NULL,
  kind   TEXT    NOT NULL,
  alive  BOOLEAN NOT NULL,
  target INTEGER,
  edits  TEXT,
  json   TEXT    NOT NULL,
  PRIMARY KEY (log, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX entries_doc ON entries (doc);
CREATE INDEX entries_target ON entries (log, target, doc) WHERE target IS NOT NULL;

-- The number of a log that was dropped is never given to another: searches remember numbers.
CREATE TABLE logs_numbered (
  number  INTEGER PRIMARY KEY AUTOINCREMENT,
  "group" TEXT    NOT NULL,
  epoch   TEXT    NOT NULL,
  version INTEGER NOT NULL DEFAULT 1,
  dropped INTEGER NOT NULL DEFAULT 0,
  UNIQUE ("group", epoch)
);
INSERT INTO logs_numbered SELECT number, "group", epoch, version, dropped FROM logs;
DROP TABLE logs;
ALTER TABLE logs_numbered RENAME TO logs;

-- +goose Down
CREATE TABLE logs_before (
  number  INTEGER PRIMARY KEY,
  "group" TEXT    NOT NULL,
  epoch   TEXT    NOT NULL,
  version INTEGER NOT NULL DEFAULT 1,
  dropped INTEGER NOT NULL DEFAULT 0,
  UNIQUE ("group", epoch)
);
INSERT INTO logs_before SELECT number, "group", epoch, version, dropped FROM logs;
DROP TABLE logs;
ALTER TABLE logs_before RENAME TO logs;
INSERT INTO entries_by_time (doc, log, id, mark, author, kind, alive, target, edits, json)
  SELECT doc, log, id, mark, author, kind, alive, target, edits, json FROM entries ORDER BY doc;
DROP TABLE entries;
ALTER TABLE entries_by_time RENAME TO entries;
CREATE UNIQUE INDEX entries_log ON entries (log, id);
CREATE INDEX entries_target ON entries (log, target) WHERE target IS NOT NULL;
