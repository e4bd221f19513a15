-- Compares when messages of a group go with what they say, from a rank on, at most limit of them. It stops once it has read 256 kB. Only
-- reads.
--
-- KEYS  last_id meta msgs expires
-- ARGV  from:int limit:int
-- Returns {OK, rank to continue from or 0, epoch, the earliest end of all and the one that a task waits for, in ms ('' if there is none),
--       then of each that is stored, or was never sent, its id, its end here in ms, and the end that it says itself ('' if none)}
-- include: base
local epoch, expiring = unpack(redis.call('HMGET', meta, 'epoch', 'expiring'))
local last, lowest = redis.call('GET', last_id), redis.call('ZRANGE', msgs, 0, 0, 'WITHSCORES')[2]
local earliest = redis.call('ZRANGE', expires, 0, 0, 'WITHSCORES')[2]
local page = redis.call('ZRANGE', expires, int(from), int(from + limit - 1), 'WITHSCORES')
local out, bytes, at = {'OK', 0, epoch or '', earliest or '', expiring or ''}, 0, 0
while at < #page and bytes <= 262144 do
  local id, stored = page[at + 1], nil
  if lowest and tonumber(id) >= tonumber(lowest) then stored = redis.call('ZRANGEBYSCORE', msgs, id, id)[1] end
  if stored or tonumber(id) > tonumber(last or 0) then
    bytes = bytes + #(stored or '')
    local n = #out
    out[n + 1], out[n + 2] = id, page[at + 2]
    out[n + 3] = stored and string.match(string.sub(stored, -64), ',"expires_at":"([^"]+)"}$') or ''
  end
  at = at + 2
end
if #page == 2 * limit or at < #page then out[2] = int(from + at / 2) end
return out
