-- Extends the leases of a batch of running tasks.
--
-- KEYS  queue:work
-- ARGV  lease_ms:int held(id token)...
--   lease_ms  from now on
--
-- Returns an array: the positions, from 1, of the entries whose token was stale, negative if
-- the task no longer exists. Their leases are not touched, and the workers that run them have
-- lost them.
-- Errors: none of its own.
-- bind: work at queue
-- include: common
local _, from_ms = task_clock()
local until_ms = string.format('%.0f', from_ms + lease_ms)

local ends, stale, position = {}, {}, 0
for i = held, #ARGV, held_row do
  -- bind: held at i
  local member = id .. ' ' .. token
  position = position + 1
  if redis.call('ZSCORE', leased, member) then
    ends[#ends + 1], ends[#ends + 2] = until_ms, member
  elseif redis.call('HEXISTS', tasks, id) == 1 then
    stale[#stale + 1] = position
  else
    stale[#stale + 1] = -position
  end
end
if #ends > 0 then
  task_free()
  redis.call('ZADD', leased, 'XX', unpack(ends))
end
return stale
