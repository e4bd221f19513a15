-- Says what is to be done for a quorum, after counting some of who has read where not all are counted: a reminder that is due, or what
-- its end brings. Otherwise a task goes on when something will be.
--
-- KEYS  meta joined read msgs quorums core:enqueue
-- ARGV  group was_epoch id task_id
-- Returns {OK, the quorum, how many have to read, how many have, number of the reminder that is due, 0 for none, or -1 if there is more to count}
-- Refuses NOTFOUND
-- include: quorum
if redis.call('HGET', meta, 'epoch') ~= was_epoch then return {'NOTFOUND'} end
local text = redis.call('HGET', quorums, id)
if not text then return {'NOTFOUND'} end
local q, now_ms, of = quorum_of(text), clock_ms(), 0
if q.state == 'open' then
  if not quorum_whole(id, q) then
    quorum_count(id, q)
    redis.call('HSET', quorums, id, quorum_text(q))
  end
  of = quorum_settle(id, q, now_ms)
end
if q.state ~= 'open' then return {'OK', quorum_text(q), q.of, q.read, 0} end
if not quorum_whole(id, q) then return {'OK', quorum_text(q), int(of), q.read, -1} end
local n, next_ms = 0, tonumber(q.ends_ms)
for after_s in string.gmatch(q.remind, '(%d+):%a+') do
  n = n + 1
  local due_ms = tonumber(q.at_ms) + 1000 * tonumber(after_s)
  if n > tonumber(q.done) then
    if due_ms <= now_ms then return {'OK', quorum_text(q), int(of), q.read, n} end
    next_ms = math.min(next_ms, due_ms)
    break
  end
end
enqueue_quorum(task_id, was_epoch, id, math.max(next_ms, now_ms + 1), now_ms)
return {'OK', quorum_text(q), int(of), q.read, 0}
