-- include: trim.lua
-- include: task_enqueue.lua
-- Makes the deliveries of a group's newest entries to webhooks, and notes up to where that was done: both or neither, so
-- that every entry is told of once.
--
-- KEYS  1 id, 2 meta, 3 seen, 4 msgs, 5 reactions, 6 reacted, 7 wants, 8..15 of the core queue, 16..23 of the egress queue
-- ARGV  1 group, 2 epoch, 3 generation, 4 id up to which they were told before, 5 id up to which they are told now,
--       6 tasks that may be in a shard of the egress queue, 7 id for a task that trims, then of each delivery: id and
--       payload of its task
-- Returns {OK}
-- Refuses NOTFOUND (the group is gone), CONFLICT (another did it), HOOKSFULL
local k = {meta = KEYS[2], seen = KEYS[3], msgs = KEYS[4], reactions = KEYS[5], reacted = KEYS[6], wants = KEYS[7]}
local group, epoch, generation, before, now = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local core, egress = 8, 16

local m = redis.call('HMGET', k.meta, 'epoch', 'keep', 'backlog_max')
if m[1] ~= epoch then return {'NOTFOUND'} end
local current, told = events_position(k)
if current ~= generation or told ~= tonumber(before) then return {'CONFLICT'} end
-- One delivery more than there is room for is taken, or a page that is larger than all of the room would never be.
if #ARGV > 7 and redis.call('HLEN', KEYS[egress]) >= tonumber(ARGV[6]) then return {'HOOKSFULL'} end
local last, now_ms = tonumber(redis.call('GET', KEYS[1])), clock_ms()

redis.call('HSET', k.meta, 'events', generation .. ' ' .. now)
for i = 8, #ARGV, 2 do task_enqueue(egress, ARGV[i], 'hook', ARGV[i + 1], 'normal', 0, now_ms, '') end
-- What was only held for this may go now.
if trim_step(k, last, tonumber(m[2]), tonumber(m[3])) then
  task_enqueue(core, ARGV[7], 'trim', '{"group":"' .. group .. '","epoch":"' .. epoch .. '"}', 'low', 0, now_ms,
    'trim:' .. group)
end
return {'OK'}
