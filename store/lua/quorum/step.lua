-- Says what is to be done for a quorum: a reminder that is due, or what its end brings. Otherwise a task goes on when something will be.
--
-- KEYS  meta joined read msgs quorums core:enqueue
-- ARGV  group was_epoch id task_id
-- Returns {OK, the quorum, how many have to read, how many have, number of the reminder that is due or 0}
-- Refuses NOTFOUND
-- include: quorum
if redis.call('HGET', meta, 'epoch') ~= was_epoch then return {'NOTFOUND'} end
local text = redis.call('HGET', quorums, id)
if not text then return {'NOTFOUND'} end
local q, of, done = quorum_of(text), 0, 0
if q.state == 'open' then of, done = quorum_settle(id, q, false) end
if q.state ~= 'open' then return {'OK', quorum_text(q), q.of, q.read, 0} end
local now_ms, n, next_ms = clock_ms(), 0, tonumber(q.ends_ms)
for after_s in string.gmatch(q.remind, '(%d+):%a+') do
  n = n + 1
  local due_ms = tonumber(q.at_ms) + 1000 * tonumber(after_s)
  if n > tonumber(q.done) then
    if due_ms <= now_ms then return {'OK', quorum_text(q), int(of), int(done), n} end
    next_ms = math.min(next_ms, due_ms)
    break
  end
end
enqueue_quorum(task_id, was_epoch, id, math.max(next_ms, now_ms + 1), now_ms)
return {'OK', quorum_text(q), int(of), int(done), 0}
