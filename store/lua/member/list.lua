-- Reads a page of the members of a group by the order of joining. Only reads.
--
-- KEYS  1 meta, 2 members, 3 joined, 4 seen, 5 read
-- ARGV  1 user ('': an operator), 2 joined id to go on from, 3 limit
-- Returns {OK, joined id to go on from or 0, then user, role, joined_at ms, seen, read of each}
-- Refuses NOTFOUND, FORBIDDEN
local meta, members, joined, seen, read = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local user, after, limit = ARGV[1], ARGV[2], tonumber(ARGV[3])

local m = redis.call('HMGET', meta, 'epoch', 'visibility')
if not m[1] then return {'NOTFOUND'} end
if user ~= '' and redis.call('HEXISTS', members, user) == 0 then return {m[2] == 'public' and 'FORBIDDEN' or 'NOTFOUND'} end

local out = {'OK', 0}
-- One more than the page holds tells whether there is a next one.
local page = redis.call('ZRANGEBYSCORE', joined, '(' .. after, '+inf', 'WITHSCORES', 'LIMIT', 0, limit + 1)
for i = 1, math.min(#page, 2 * limit), 2 do
  local role, joined_ms = string.match(redis.call('HGET', members, page[i]), '^(%S+) (%d+)$')
  out[#out + 1] = page[i]
  out[#out + 1] = role
  out[#out + 1] = joined_ms
  out[#out + 1] = redis.call('ZSCORE', seen, page[i])
  out[#out + 1] = redis.call('ZSCORE', read, page[i])
end
if #page > 2 * limit then out[2] = page[2 * limit] end
return out
