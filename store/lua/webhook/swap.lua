-- include: int.lua
-- include: task_enqueue.lua
-- Registers, changes or removes a webhook, if it is still as it was read. A value is "<1 while it is in use, else 0>
-- <revision> <JSON>". The task tells the partitions, where scripts look.
--
-- KEYS  1 webhooks, 2 webhooks:state, 3..10 of the core queue
-- ARGV  1 id, 2 revision that was read (0: there was none), 3 '1' while it is in use, 4 its JSON ('' removes it),
--       5 how many there may be, 6 id for a task
-- Returns {OK}
-- Refuses CONFLICT, WEBHOOKS (too many)
local webhooks, state = KEYS[1], KEYS[2]
local id, revision, in_use, text = ARGV[1], ARGV[2], ARGV[3] == '1', ARGV[4]
local used, current = string.match(redis.call('HGET', webhooks, id) or '0 0 ', '^(%d) (%d+) ')
if current ~= revision then return {'CONFLICT'} end
if current == '0' and redis.call('HLEN', webhooks) >= tonumber(ARGV[5]) then return {'WEBHOOKS'} end
local now_ms = clock_ms()

if text == '' then
  redis.call('HDEL', webhooks, id)
else
  redis.call('HSET', webhooks, id, (in_use and '1 ' or '0 ') .. int(tonumber(revision) + 1) .. ' ' .. text)
end
local version = redis.call('HINCRBY', state, 'version', 1)
local change = (in_use and text ~= '' and 1 or 0) - tonumber(used)
local count = redis.call('HINCRBY', state, 'used', change)
if count == 0 then redis.call('HSET', state, 'generation', 0) end
if count == 1 and change == 1 then redis.call('HSET', state, 'generation', int(version)) end
task_enqueue(3, ARGV[6], 'webhooks', '{"version":' .. int(version) .. '}', 'high', 0, now_ms, 'webhooks')
return {'OK'}
