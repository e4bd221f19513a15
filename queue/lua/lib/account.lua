-- task_account counts the tasks of an account, those whose id ends in "~<account>", while they
-- wait or run. Dead ones are not counted. counts holds them as "tasks~<account>", and the bytes
-- that were enqueued as "bytes~<account>"; an account without tasks has neither.
--
-- counts  the key of that name
-- id      of the task; without an account nothing happens
-- sign    1: it now waits; -1: it is complete, dead or cancelled
-- bytes   length of its specification; 0 if that is gone
local function task_account(counts, id, sign, bytes)
  local account = string.match(id, '~.+$')
  if not account then return end
  if redis.call('HINCRBY', counts, 'tasks' .. account, sign) <= 0 then
    redis.call('HDEL', counts, 'tasks' .. account, 'bytes' .. account)
  else
    redis.call('HINCRBY', counts, 'bytes' .. account, sign * bytes + 0) -- Redis takes no -0
  end
end
