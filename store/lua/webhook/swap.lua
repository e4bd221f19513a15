-- Registers, changes or removes a webhook, if it is still as it was read. A value is "<1 while it is in use, else 0>
-- <revision> <JSON>". The task copies what scripts need to the partitions.
--
-- KEYS  webhooks webhooks_state webhooks_health core:enqueue audit
-- ARGV  id revision in_use:flag text webhooks_max:int task_id audit_id audited audits_max:int
--   revision  that was read; 0: there was none
--   text      its JSON; '' removes it
--   audit_id, audited  what the audit gets of it; '': nothing
-- Returns {OK}
-- Refuses CONFLICT, WEBHOOKS (too many)
-- include: task_webhook
-- include: audit
local used, current = string.match(redis.call('HGET', webhooks, id) or '0 0 ', '^(%d) (%d+) ')
if current ~= revision then return {'CONFLICT'} end
if current == '0' and redis.call('HLEN', webhooks) >= webhooks_max then return {'WEBHOOKS'} end
local now_ms = clock_ms()

if text == '' then
  redis.call('HDEL', webhooks, id)
  redis.call('HDEL', webhooks_health, id)
else
  redis.call('HSET', webhooks, id, (in_use and '1 ' or '0 ') .. int(tonumber(revision) + 1) .. ' ' .. text)
end
local version = redis.call('HINCRBY', webhooks_state, 'version', 1)
local change = (in_use and text ~= '' and 1 or 0) - tonumber(used)
local count = redis.call('HINCRBY', webhooks_state, 'used', change)
if count == 0 then redis.call('HSET', webhooks_state, 'generation', 0) end
if count == 1 and change == 1 then redis.call('HSET', webhooks_state, 'generation', int(version)) end
note_audit('-', audit_id, audited)
enqueue_webhooks(core, task_id, version, now_ms)
return {'OK'}
