-- Reads items of an inbox after a position. Only reads.
--
-- KEYS  inbox inbox_base
-- ARGV  after after_epoch after_mark limit:int bytes_max:int
--   after       a seq; '': what was acked
--   after_epoch, after_mark  of a cursor, else ''
--   bytes_max   of the items: no more are read once it is reached
-- Returns {OK, epoch, base, last, acked, position, its mark or -, 1 if nothing is
--         missing before the items, the items}
-- include: inbox_mark
local epoch, base, gaps, acked = unpack(redis.call('HMGET', inbox_base, 'epoch', 'base', 'gaps', 'acked'))
base = tonumber(base or 0)
local stored = redis.call('LLEN', inbox)
local last = base + stored + tonumber(gaps or 0)
local at = tonumber(after) or math.max(tonumber(acked or 0), 0)
local rank = inbox_rank(inbox, at, stored, base, last)
local mark = inbox_mark(at, rank, base, last)
local ours = at <= last and (after_epoch == '' or after_epoch == epoch)
if after_mark ~= '' and after_mark ~= '-' and mark ~= '-' and mark ~= after_mark then ours = false end
-- A position of another list starts over from the oldest item.
if not ours then at, rank, mark = base, 0, redis.call('HGET', inbox_base, 'base_mark') or '-' end

local whole = ours and at >= base
local out, read, bytes = {'OK', epoch or '', int(base), int(last), acked or '0', int(at), mark, whole and 1 or 0}, 0, 0
while read < limit and bytes < bytes_max do
  local some = redis.call('LRANGE', inbox, rank + read, rank + math.min(read + 8, limit) - 1)
  for i, item in ipairs(some) do
    out[#out + 1] = item
    bytes = bytes + #item
  end
  read = read + #some
  if #some < 8 then break end
end
-- The newest were dropped, and the reader has all there is: the position skips the missing ones.
if limit > 0 and read == 0 and at < last then
  out[6], out[7], out[8] = int(last), redis.call('HGET', inbox_base, 'end_mark') or '-', 0
end
return out
