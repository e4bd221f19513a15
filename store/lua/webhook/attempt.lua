-- Records the outcome of the last attempt to call a webhook. A value is "<failing since, 0: the last attempt succeeded>
-- <failed last> <succeeded last> <last error>", times in ms, 0 for never.
--
-- KEYS  webhooks webhooks_health
-- ARGV  id reason
--   reason  why it failed; '' if it succeeded
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
