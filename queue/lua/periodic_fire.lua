-- Fires periodic tasks: enqueues their occurrences and plans the next ones, for the tokens of
-- the claims. With any other token (another server has fired, or the periodic task was
-- changed, paused or deleted) an entry has no effect and is reported.
--
-- KEYS  queue:work periodic
-- ARGV  fires(id token name occurrences next_ms)...
--   id           of the task that fires; it is exchanged for the one of the next occurrence
--   occurrences  their times in ms, with blanks between them; '' = none
--   next_ms      of the next one; 0 = there is none
--
-- Returns an array: the positions, from 1, of the entries whose token was stale.
-- Errors: none of its own.
-- bind: work at queue
-- include: common
-- include: enqueue
-- include: periodic
local now_ms, from_ms = task_clock()
local stale, position, batch = {}, 0, {}
for i = fires, #ARGV, fires_row do
  -- bind: fires at i
  position = position + 1
  if redis.call('ZREM', leased, id .. ' ' .. token) == 0 then
    stale[#stale + 1] = position
  else
    redis.call('HDEL', tasks, id)
    redis.call('HDEL', runs, id)
    redis.call('HINCRBY', counts, 'done', 1)
    local declared, state = periodic_read(name)
    if declared then
      local priority, attempts_max, kind, key, more, payload =
        string.match(declared, '^(%S+) (%S+) (%S+) ([^\r\n]*)([^\n]*)\n[^\n]*\n(.*)$')
      local part = string.match(id, '^p%d+%-')
      for ms in string.gmatch(occurrences, '%d+') do
        for _, value in ipairs({part .. name .. '@' .. ms, kind, payload, priority, ms, 0, key, attempts_max, 0, more}) do
          batch[#batch + 1] = value
        end
        state.last_ms, state.fired = tonumber(ms), state.fired + 1
      end
      state.next_ms = tonumber(next_ms)
      if state.next_ms > 0 then periodic_task(batch, id, declared, state.next_ms) end
      periodic_note(name, state)
    end
    -- 256 tasks at most, and the occurrences of one more.
    if #batch >= 2560 then
      task_enqueue_all(queue, batch, now_ms, from_ms, true)
      batch = {}
    end
  end
end
if #batch > 0 then task_enqueue_all(queue, batch, now_ms, from_ms, true) end
return stale
