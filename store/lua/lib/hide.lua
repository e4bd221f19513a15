-- needs: hidden live nodes present
-- hide has nobody see where a user is, or has others see it again. The user's sessions hear of it.
local function hide(user, hides)
  if redis.call(hides and 'SADD' or 'SREM', hidden, user) == 0 then return end
  local now_ms = clock_ms()
  for _, node in ipairs(redis.call('ZRANGE', nodes, 0, 499)) do
    local entry = node .. ' ' .. user
    if hides then
      redis.call('HDEL', present, entry)
    elseif redis.call('ZSCORE', live, entry) then
      redis.call('HSETNX', present, entry, int(now_ms) .. ' online')
    end
  end
  redis.call(PUBLISH, channel, hides and 'v 0' or 'v 1')
end
