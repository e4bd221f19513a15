-- Has webhooks told that a member has pressed a button, unless they did a moment ago.
--
-- KEYS  meta members wants pressed core:enqueue
-- ARGV  user group was_epoch press event again_ms:int pressed_id
--   press     what stands for the member, the message and the action
--   event     what webhooks get, as JSON
--   again_ms  for how long a repeat is the same press
-- Returns {OK}
-- Refuses NOTFOUND, FORBIDDEN, CONFLICT
-- include: not_member
-- include: base
-- include: task_pressed
local epoch, visibility = unpack(redis.call('HMGET', meta, 'epoch', 'visibility'))
if not epoch then return {'NOTFOUND'} end
if redis.call('HEXISTS', members, user) == 0 then return not_member(visibility) end
if epoch ~= was_epoch then return {'CONFLICT'} end
local now_ms = clock_ms()
local old = redis.call('ZCOUNT', pressed, '-inf', int(now_ms - again_ms))
if old > 0 then redis.call('ZREMRANGEBYRANK', pressed, 0, int(math.min(old, 500) - 1)) end
local before = redis.call('ZSCORE', pressed, press)
if before and tonumber(before) > now_ms - again_ms then return {'OK'} end
redis.call('ZADD', pressed, int(now_ms), press)
if redis.call('HEXISTS', wants, 'events') == 1 then enqueue_pressed(pressed_id, event, now_ms) end
return {'OK'}
