-- Keeps the preview of a link.
--
-- KEYS  previews previews_at
-- ARGV  id text lasts_ms:int previews_max:int
--   id            the hash of the link
--   text          JSON
--   previews_max  of a partition
-- Returns {OK}
-- include: base
-- include: preview
write_preview(id, text, lasts_ms, previews_max, clock_ms())
return {'OK'}
