-- Reads what the archive lacks of a group: how far it is archived, and the entries from there on: at most limit, until they are
-- bytes_max long together. Only reads.
--
-- KEYS  last_id meta seen msgs wants
-- ARGV  limit:int bytes_max:int
-- Returns {OK, epoch, 1 if there is an archive, id up to which it is archived (-1 if the archiver has not joined), last,
--       lowest id that is stored (last + 1 if none is), 1 under a legal hold, then the stored messages}
-- Refuses NOTFOUND
-- include: base
local epoch, hold = unpack(redis.call('HMGET', meta, 'epoch', 'hold'))
if not epoch then return {'NOTFOUND'} end
local last = tonumber(redis.call('GET', last_id))
local held = last - redis.call('ZCARD', msgs) + 1
local archived = tonumber(redis.call('ZSCORE', seen, '$archive') or -1)
local page, bytes = {'OK', epoch, redis.call('HEXISTS', wants, 'archive'), archived, last, held, hold and 1 or 0}, 0
local from = archived < 0 and held or math.min(archived, last) + 1
for _, member in ipairs(redis.call('ZRANGEBYSCORE', msgs, int(from), '+inf', 'LIMIT', 0, limit)) do
  page[#page + 1] = member
  bytes = bytes + #member
  if bytes >= bytes_max then break end
end
return page
