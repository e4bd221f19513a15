-- Reads a page of the pins that a member may see, the newest first, each with the message as it reads now. Only reads.
--
-- KEYS  meta members joined reactions reacted pins pinned
-- ARGV  user after:int limit:int bytes_max:int
--   after      number of the last one of the page before, or 0
--   bytes_max  of the messages; the first one is read whatever its size
-- Returns {OK, number to continue after or 0, then of each: what `pins` has, the stored message, and a list of '<target> <emoji>
--       <count>', the user's own reaction or nil, ...}
-- Refuses NOTFOUND, FORBIDDEN
-- include: not_member
-- include: pins
local epoch, visibility, history, has_pins = unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'history', 'pinned'))
if not epoch then return {'NOTFOUND'} end
if redis.call('HEXISTS', members, user) == 0 then return not_member(visibility) end
local since = history == '0' and tonumber(redis.call('ZSCORE', joined, user)) or 0
local all, list = has_pins and redis.call('HGETALL', pins) or {}, {}
for n = 1, #all, 2 do
  local number = pin_of(all[n + 1]).number
  if tonumber(all[n]) >= since and (after == 0 or number < after) then
    list[#list + 1] = {number = number, target = all[n], text = all[n + 1]}
  end
end
table.sort(list, function(a, b) return a.number > b.number end)
local out, bytes = {'OK', 0}, 0
for i, p in ipairs(list) do
  local entry, counts = redis.call('HGET', pinned, p.target), {}
  bytes = bytes + #entry
  if i > limit or i > 1 and bytes > bytes_max then
    out[2] = int(list[i - 1].number)
    break
  end
  for _, count in ipairs(redis.call('ZRANGEBYSCORE', reactions, p.target, p.target)) do
    local emoji = string.match(count, '^%d+ (.*) %d+$')
    counts[#counts + 1], counts[#counts + 2] = count, redis.call('ZSCORE', reacted, p.target .. ' ' .. user .. ' ' .. emoji)
  end
  out[#out + 1], out[#out + 2], out[#out + 3] = p.text, entry, counts
end
return out
