-- Reads what decides how old the messages of a group get. Only reads.
--
-- KEYS  last_id meta seen msgs retention
-- Returns {OK, epoch, days (0: for ever), 1 if the group is under legal hold, last, lowest id that is stored (last + 1 if none
--       is), lowest id that can be read anywhere, 1 if the log goes on in the archive, clock in ms, 1 if there are pins}
-- Refuses NOTFOUND
-- include: base
-- include: retention
local epoch, held, archived_from, has_pins = unpack(redis.call('HMGET', meta, 'epoch', 'hold', 'archived_from', 'pinned'))
if not epoch then return {'NOTFOUND'} end
local last = tonumber(redis.call('GET', last_id))
local stored_from = last - redis.call('ZCARD', msgs) + 1
local archived = archived_from and redis.call('ZSCORE', seen, '$archive')
local first = archived and math.min(tonumber(archived_from), stored_from) or stored_from
return {'OK', epoch, int(days_of_group()), held and 1 or 0, last, stored_from, int(first), archived and 1 or 0, int(clock_ms()),
  has_pins and 1 or 0}
