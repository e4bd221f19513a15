-- Enqueues a batch of tasks.
--
-- KEYS  those of Keys.Enqueue()
-- ARGV  nine for each task: id, kind, payload, priority, due_ms (0 = none), delay_ms
--       (counts from now when there is no due_ms), unique, attempts_max, deadline_ms
--
-- Returns an array, for each task 1, or 0 when its unique key or its id is already there.
-- Errors: none of its own.
local t = redis.call('TIME')
local us = tonumber(t[1]) * 1000000 + tonumber(t[2])
local now_ms, from_ms = math.floor(us / 1000), math.ceil(us / 1000)

local reply = {}
for i = 1, #ARGV, 9 do
  local id, kind, payload, priority = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  local due_ms, delay_ms, key = tonumber(ARGV[i + 4]), tonumber(ARGV[i + 5]), ARGV[i + 6]
  if due_ms == 0 and delay_ms > 0 then due_ms = from_ms + delay_ms end
  reply[#reply + 1] = task_enqueue(KEYS, id, kind, payload, priority, due_ms, now_ms, key,
    {attempts_max = ARGV[i + 7], deadline_ms = ARGV[i + 8]})
end
return reply
