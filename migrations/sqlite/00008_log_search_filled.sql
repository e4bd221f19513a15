-- +goose Up
DROP TABLE log_search_to;

-- +goose Down
INSERT INTO log_search (log_search) VALUES ('delete-all');
CREATE TABLE log_search_to (
  log INTEGER NOT NULL,
  id  INTEGER NOT NULL
);
INSERT INTO log_search_to VALUES (0, 0);
