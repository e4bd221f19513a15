-- Reads a page of the bans of a group that hold, the newest first, for an owner, an admin or an operator. Only reads.
--
-- KEYS  meta members bans banned
-- ARGV  caller operator:flag after limit:int
--   after  user of the last one of the page before, or ''
-- Returns {OK, user to continue after or '', then user and ban (`<until ms, 0: no end> <at ms> <by> <reason>`) of each}
-- Refuses NOTFOUND, FORBIDDEN; GONE if the user to continue after is not banned any longer
-- include: base
-- include: manage
local epoch, visibility = unpack(redis.call('HMGET', meta, 'epoch', 'visibility'))
if not epoch then return {'NOTFOUND'} end
local refused = may_manage(visibility, caller, operator)
if refused then return refused end
local first = 0
if after ~= '' then
  first = redis.call('ZREVRANK', banned, after)
  if not first then return {'GONE'} end
  first = first + 1
end
local page = redis.call('ZREVRANGE', banned, first, first + limit)
local out, now_ms = {'OK', page[limit + 1] and page[limit] or ''}, clock_ms()
for i = 1, math.min(#page, limit) do
  local ban = redis.call('HGET', bans, page[i])
  local ends = tonumber(string.match(ban, '^%d+'))
  if ends == 0 or ends > now_ms then out[#out + 1], out[#out + 2] = page[i], ban end
end
return out
