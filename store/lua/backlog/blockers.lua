-- Reads which members hold back the trimming of a group, or may have a send refused, the slowest first, for an owner, an admin or
-- an operator. Only reads.
--
-- KEYS  last_id meta members seen msgs files_named
-- ARGV  caller operator:flag max:int
-- Returns {OK, then user, entries behind, bytes of files behind, the oldest entry that they have not seen ('' if it is not
--       stored) of each}
-- Refuses NOTFOUND, FORBIDDEN
-- include: base
-- include: manage
-- include: blockers
local epoch, visibility, keep, backlog_max, overflow, named_bytes =
  unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'keep', 'backlog_max', 'overflow', 'named_bytes'))
if not epoch then return {'NOTFOUND'} end
local refused = may_manage(visibility, caller, operator)
if refused then return refused end
local last, total = tonumber(redis.call('GET', last_id)), tonumber(named_bytes or 0)
local waits_for, low = behind_from(last, tonumber(keep), tonumber(backlog_max), overflow)
-- Nobody waits for themselves; an operator asks about everyone.
local except = operator and '' or caller
local out, found = {'OK'}, blockers(last, total, low, except, max, waits_for)
for i = 1, #found, 3 do
  local id = int(last - tonumber(found[i + 1]) + 1)
  local n = #out
  out[n + 1], out[n + 2], out[n + 3] = found[i], found[i + 1], found[i + 2]
  out[n + 4] = redis.call('ZRANGEBYSCORE', msgs, id, id)[1] or ''
end
return out
