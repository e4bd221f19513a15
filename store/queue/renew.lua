-- Extends the leases of a batch of running tasks.
--
-- KEYS  those of Keys.work()
-- ARGV  lease_ms  from now on; then for each task: id, token
--
-- Returns an array: the places, from 1, of the entries whose token was stale. Their leases
-- are not touched, and whoever runs them has lost them.
-- Errors: none of its own.
local lease_ms = tonumber(ARGV[1])
local _, from_ms = task_clock()
local until_ms = string.format('%.0f', from_ms + lease_ms)

local ids, tokens, ends, stale = {}, {}, {}, {}
for i = 2, #ARGV, 2 do ids[#ids + 1], tokens[#tokens + 1] = ARGV[i], ARGV[i + 1] end
local state = redis.call('HMGET', runs, unpack(ids))
for i, id in ipairs(ids) do
  local mine = tokens[i] .. ' '
  if tokens[i] ~= '0' and state[i] and string.sub(state[i], 1, #mine) == mine then
    ends[#ends + 1], ends[#ends + 2] = until_ms, id
  else
    stale[#stale + 1] = i
  end
end
if #ends > 0 then redis.call('ZADD', leased, 'XX', unpack(ends)) end
return stale
