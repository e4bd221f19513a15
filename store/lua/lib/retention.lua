-- needs: meta retention
-- days_of_group is after how many days messages of a group go: what the group says or what the server says, whichever is shorter.
-- 0: never.
local function days_of_group()
  local own, all = tonumber(redis.call('HGET', meta, 'retain_days') or 0), tonumber(redis.call('HGET', retention, 'days') or 0)
  if own == 0 or all == 0 then return own + all end
  return math.min(own, all)
end
