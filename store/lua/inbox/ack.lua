-- Moves acked of an inbox forward, and drops acked items except for the newest `keep`. A repeat changes nothing.
--
-- KEYS  inbox inbox_base inbox_server
-- ARGV  seq:int at_epoch at_mark keep:int
--   at_epoch, at_mark  of a cursor, else ''
--   keep               acked items to keep for the owner's other devices
-- Returns {OK, acked}
-- Refuses OUTOFRANGE; CONFLICT for a cursor of another inbox, or of one that lost its end
-- include: inbox_mark
local epoch, base, gaps, acked = unpack(redis.call('HMGET', inbox_base, 'epoch', 'base', 'gaps', 'acked'))
base, acked = tonumber(base or 0), tonumber(acked or 0)
local stored = redis.call('LLEN', inbox)
local last = base + stored + tonumber(gaps or 0)
if at_epoch ~= '' and (at_epoch ~= epoch or seq > last) then return {'CONFLICT'} end
if seq > last then return {'OUTOFRANGE', 'seq', 0, int(last)} end
local rank = inbox_rank(inbox, seq, stored, base, last)
if at_mark ~= '' and at_mark ~= '-' then
  local mark = inbox_mark(seq, rank, base, last)
  if mark ~= '-' and mark ~= at_mark then return {'CONFLICT'} end
end
if seq <= acked then return {'OK', int(acked)} end

local fields, drop = {'acked', int(seq)}, rank - keep
if drop > 0 then
  local gone, first = redis.call('LINDEX', inbox, drop - 1), redis.call('LINDEX', inbox, drop)
  base = first and inbox_seq(first) - 1 or last
  local base_mark = inbox_seq(gone) == base and inbox_mark_of(gone) or ''
  if not first and base_mark == '' then base_mark = redis.call('HGET', inbox_base, 'end_mark') or '' end
  for _, f in ipairs({'base', int(base), 'gaps', int(last - base - (stored - drop)), 'base_mark', base_mark}) do
    fields[#fields + 1] = f
  end
  redis.call('LTRIM', inbox, drop, -1)
end
redis.call('HSET', inbox_base, unpack(fields))
if seq == last then redis.call('UNLINK', inbox_server) end
return {'OK', int(seq)}
