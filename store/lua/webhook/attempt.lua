-- Records how the last attempt to call a webhook went. A value is "<since when it fails, 0: the last attempt succeeded> <when
-- it failed last> <when it succeeded last> <why it failed last>", times in ms, 0 where that never was.
--
-- KEYS  webhooks webhooks_health
-- ARGV  id reason
--   reason  why it failed; '' where it succeeded
-- Returns {OK}
-- Refuses NOTFOUND (no such webhook)
-- include: base
if redis.call('HEXISTS', webhooks, id) == 0 then return {'NOTFOUND'} end
local now = int(clock_ms())
local since, failed, succeeded, why = string.match(redis.call('HGET', webhooks_health, id) or '', '^(%d+) (%d+) (%d+) (.*)$')
since, failed, succeeded, why = since or '0', failed or '0', succeeded or '0', why or ''
if reason == '' then
  since, succeeded = '0', now
else
  since, failed, why = since == '0' and now or since, now, reason
end
redis.call('HSET', webhooks_health, id, since .. ' ' .. failed .. ' ' .. succeeded .. ' ' .. why)
return {'OK'}
