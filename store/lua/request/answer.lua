-- Lets a user in who asked to join, or does not: an owner, an admin or an operator decides.
--
-- KEYS  last_id meta members requests asked joined managers seen read msgs skip reactions reacted core:enqueue wants
-- ARGV  user caller operator:flag accept:flag at_ms mark rest members_max:int channel task_id group trim_id
--   mark, rest  of the notice
--   trim_id     of a task that continues if there is more to trim
-- Returns {OK}
-- Refuses NOTFOUND, FORBIDDEN, TOOMANY
-- include: manage
-- include: requests
-- include: asked
-- include: join
-- include: log_grew
-- include: task_member
local epoch, visibility, history, keep, backlog_max, has_asked =
  unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'history', 'keep', 'backlog_max', 'asked'))
if not epoch then return {'NOTFOUND'} end
local refused = may_manage(visibility, caller, operator)
if refused then return refused end
local now_ms = clock_ms()
local at = asked_at(user, now_ms)
if not at or redis.call('HEXISTS', members, user) == 1 then return {'NOTFOUND'} end
if not accept then
  drop_request(has_asked, user)
  enqueue_member(task_id, epoch, int(at), caller, 'declined', {user}, at_ms, now_ms)
  return {'OK'}
end
if redis.call('HLEN', members) >= members_max then return {'TOOMANY'} end

local id = join(epoch, history, user, 'member', at_ms, mark, rest)
drop_request(has_asked, user)
advance(caller, id)
log_grew(epoch, id, now_ms)
enqueue_member(task_id, epoch, id, caller, 'accepted', {user}, at_ms, now_ms)
local last = tonumber(id)
keep, backlog_max = tonumber(keep), tonumber(backlog_max)
-- include: trim_64th
if more then
  -- include: task_trim
  enqueue_trim(trim_id, epoch, now_ms)
end
return {'OK'}
