-- Ends the runs of a batch of tasks. Every entry demands the token of its claim: with any
-- other (the lease ended and somebody took it back) it has no effect and is reported.
--
-- KEYS  those of Keys.work()
-- ARGV  dead_max  dead letters to keep
--       n         how many are complete; then for each of them: id, token
--       then for each of the others: verdict, id, token, delay_ms, error
--         retry   the handler failed: an attempt is counted, and it runs again after delay_ms
--         bury    the same, but it becomes a dead letter
--         return  the run did not count: back to the head of its list, or after delay_ms
--
-- Returns an array: the places, from 1, of the entries whose token was stale.
-- Errors: none of its own.
local dead_max, n = tonumber(ARGV[1]), tonumber(ARGV[2])
local now_ms, from_ms = task_clock()
local stale = {}

if n > 0 then
  local ids, tokens, done = {}, {}, {}
  for i = 1, n do ids[i], tokens[i] = ARGV[1 + 2 * i], ARGV[2 + 2 * i] end
  local state = redis.call('HMGET', runs, unpack(ids))
  for i, id in ipairs(ids) do
    local mine = tokens[i] .. ' '
    if tokens[i] ~= '0' and state[i] and string.sub(state[i], 1, #mine) == mine then
      done[#done + 1] = id
    else
      stale[#stale + 1] = i
    end
  end
  if #done > 0 then
    redis.call('HINCRBY', counts, 'done', redis.call('ZREM', leased, unpack(done)))
    redis.call('HDEL', tasks, unpack(done))
    redis.call('HDEL', runs, unpack(done))
  end
end

local ready, soonest_ms, place = false, 1001, n
for i = 3 + 2 * n, #ARGV, 5 do
  local verdict, id, token, delay_ms, err = ARGV[i], ARGV[i + 1], ARGV[i + 2], tonumber(ARGV[i + 3]), ARGV[i + 4]
  place = place + 1
  local current, attempts, crashes, last = task_run(redis.call('HGET', runs, id))
  if current == '0' or current ~= token then
    stale[#stale + 1] = place
  else
    if verdict ~= 'return' then
      attempts, last = attempts + 1, err
      redis.call('HINCRBY', counts, 'failed', 1)
    end
    redis.call('ZREM', leased, id)
    task_write_run(id, attempts, crashes, last)
    if verdict == 'bury' then
      task_bury(id, now_ms, dead_max)
    elseif delay_ms > 0 then
      redis.call('ZADD', delayed, string.format('%.0f', from_ms + delay_ms), id)
      soonest_ms = math.min(soonest_ms, delay_ms)
    elseif verdict == 'return' then
      local spec = redis.call('HGET', tasks, id)
      redis.call('LPUSH', KEYS[task_ready[string.match(spec, '^%a+')]], id)
      ready = true
    else
      task_push({id})
      ready = true
    end
  end
end
if ready then redis.call('PUBLISH', tasks, 'ready') end
if soonest_ms <= 1000 then redis.call('PUBLISH', tasks, string.format('delayed %.0f', soonest_ms)) end
return stale
