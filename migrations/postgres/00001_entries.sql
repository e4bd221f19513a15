-- +goose Up

-- id: the random name of this database.
CREATE TABLE about (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

-- A log is one life of a group.
CREATE TABLE logs (
  number  BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  "group" TEXT NOT NULL,
  epoch   TEXT NOT NULL,
  UNIQUE ("group", epoch)
);

-- doc orders entries of all logs by time: sent_at in ms, times 2^21, plus what keeps entries of one ms apart.
-- alive: a text or data that is not deleted. target: of an edit, a deletion or a reaction. edits: a JSON array of ids.
CREATE TABLE entries (
  doc    BIGINT  PRIMARY KEY,
  log    BIGINT  NOT NULL,
  id     BIGINT  NOT NULL,
  mark   TEXT    NOT NULL,
  author TEXT    NOT NULL,
  kind   TEXT    NOT NULL,
  alive  BOOLEAN NOT NULL,
  target BIGINT,
  edits  TEXT,
  json   TEXT    NOT NULL
);
CREATE UNIQUE INDEX entries_log ON entries (log, id);
CREATE INDEX entries_target ON entries (log, target) WHERE target IS NOT NULL;

-- The newest reaction entry of each user with each emoji. added is false where that entry took the reaction back.
CREATE TABLE reactions (
  log    BIGINT  NOT NULL,
  target BIGINT  NOT NULL,
  emoji  TEXT    NOT NULL,
  author TEXT    NOT NULL,
  id     BIGINT  NOT NULL,
  added  BOOLEAN NOT NULL,
  PRIMARY KEY (log, target, emoji, author)
);

-- +goose Down
DROP TABLE reactions;
DROP TABLE entries;
DROP TABLE logs;
DROP TABLE about;
