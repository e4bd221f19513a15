-- Extends the leases of a batch of running tasks.
--
-- KEYS  those of Keys.Work()
-- ARGV  lease_ms  from now on; then for each task: id, token
--
-- Returns an array: the places, from 1, of the entries whose token was stale, negative where
-- the task is not there any more. Their leases are not touched, and whoever runs them has
-- lost them.
-- Errors: none of its own.
local lease_ms = tonumber(ARGV[1])
local _, from_ms = task_clock()
local until_ms = string.format('%.0f', from_ms + lease_ms)

local ends, stale, place = {}, {}, 0
for i = 2, #ARGV, 2 do
  local member = ARGV[i] .. ' ' .. ARGV[i + 1]
  place = place + 1
  if redis.call('ZSCORE', leased, member) then
    ends[#ends + 1], ends[#ends + 2] = until_ms, member
  elseif redis.call('HEXISTS', tasks, ARGV[i]) == 1 then
    stale[#stale + 1] = place
  else
    stale[#stale + 1] = -place
  end
end
if #ends > 0 then
  task_free()
  redis.call('ZADD', leased, 'XX', unpack(ends))
end
return stale
