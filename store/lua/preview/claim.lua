-- Takes a link for one fetch, unless there is something of it that has not ended.
--
-- KEYS  previews previews_at
-- ARGV  id lasts_ms:int previews_max:int
--   id            the hash of the link
--   previews_max  of a partition
-- Returns {OK, 1}, or {OK, 0} if another has it
-- include: base
-- include: preview
local now_ms = clock_ms()
local ends_ms = redis.call('ZSCORE', previews_at, id)
if ends_ms and tonumber(ends_ms) > now_ms then return {'OK', 0} end
write_preview(id, '', lasts_ms, previews_max, now_ms)
return {'OK', 1}
