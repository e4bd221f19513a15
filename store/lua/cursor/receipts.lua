-- include: int.lua
-- Reads how far the members of a group are with a message. Only reads.
--
-- KEYS  1 id, 2 meta, 3 members, 4 joined, 5 seen, 6 read, 7 msgs
-- ARGV  1 user, 2 id of the message, 3 who sent it ('' where it was not found), 4 joined id to go on from, 5 limit
-- Returns {OK, members but the sender, seen by, read by, joined id to go on from or 0, then user, seen, read of each}; over
--         all members where the message is trimmed
-- Refuses NOTFOUND, FORBIDDEN
local id_key, meta, members, joined, seen, read, msgs = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local user, id, sender, after, limit = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])

local m = redis.call('HMGET', meta, 'epoch', 'visibility', 'history')
if not m[1] then return {'NOTFOUND'} end
if redis.call('HEXISTS', members, user) == 0 then return {m[2] == 'public' and 'FORBIDDEN' or 'NOTFOUND'} end
local last = tonumber(redis.call('GET', id_key))
local n = tonumber(id)
if n < 1 or n > last then return {'NOTFOUND'} end
if m[3] == '0' and n < tonumber(redis.call('ZSCORE', joined, user)) then return {'NOTFOUND'} end
if n <= last - redis.call('ZCARD', msgs) then
  sender = '' -- nobody knows any longer who sent it
elseif sender == '' then
  return {'NOTFOUND'} -- it came after the caller looked for it
end

-- $archive reads too, but is no member; the sender is left out.
local function others(set)
  local count = redis.call('ZCOUNT', set, id, '+inf')
  for _, one in ipairs({'$archive', sender}) do
    local at = redis.call('ZSCORE', set, one)
    if at and tonumber(at) >= n then count = count - 1 end
  end
  return count
end
local out = {'OK', redis.call('HLEN', members) - redis.call('HEXISTS', members, sender), others(seen), others(read), 0}
-- Two more than the page holds: one may be the sender, and one tells whether there is a next page.
local page = redis.call('ZRANGEBYSCORE', joined, '(' .. after, '+inf', 'WITHSCORES', 'LIMIT', 0, limit + 2)
local count, at = 0, 0
for i = 1, #page, 2 do
  if page[i] ~= sender then
    if count == limit then
      out[5] = at
      break
    end
    count, at = count + 1, page[i + 1]
    out[#out + 1] = page[i]
    out[#out + 1] = redis.call('ZSCORE', seen, page[i])
    out[#out + 1] = redis.call('ZSCORE', read, page[i])
  end
end
return out
