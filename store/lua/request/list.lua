-- Reads a page of the requests to join a group, the oldest first, for an owner, an admin or an operator. Only reads.
--
-- KEYS  meta members requests asked
-- ARGV  caller operator:flag after limit:int
--   after  user of the last one of the page before, or ''
-- Returns {OK, user to continue after or '', then user and request (`<at ms> <note>`) of each}
-- Refuses NOTFOUND, FORBIDDEN; GONE if the request to continue after is not open any longer
-- include: manage
-- include: requests
local epoch, visibility = unpack(redis.call('HMGET', meta, 'epoch', 'visibility'))
if not epoch then return {'NOTFOUND'} end
local refused = may_manage(visibility, caller, operator)
if refused then return refused end
local first = redis.call('ZCOUNT', asked, '-inf', int(clock_ms() - request_ms))
if after ~= '' then
  local rank = redis.call('ZRANK', asked, after)
  if not rank then return {'GONE'} end
  first = math.max(first, rank + 1)
end
local page = redis.call('ZRANGE', asked, first, first + limit)
local out = {'OK', page[limit + 1] and page[limit] or ''}
for i = 1, math.min(#page, limit) do
  out[#out + 1], out[#out + 2] = page[i], redis.call('HGET', requests, page[i])
end
return out
