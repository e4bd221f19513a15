-- Asks those who manage a public group to let a user in. A repeat replaces the note.
--
-- KEYS  meta members bans requests asked core:enqueue wants
-- ARGV  user note note_json at_ms requests_max:int task_id group
--   note_json  the note as JSON, for the task
-- Returns {OK, 1 if the user had not asked, the request as in list}
-- Refuses NOTFOUND, FORBIDDEN, ISMEMBER, OPEN, BANNED until ms, REQUESTS
-- include: banned
-- include: requests
-- include: task_requested
local epoch, visibility, joining, banned = unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'join', 'banned'))
if not epoch then return {'NOTFOUND'} end
if redis.call('HEXISTS', members, user) == 1 then return {'ISMEMBER'} end
if visibility ~= 'public' then return {'NOTFOUND'} end
local ends = banned_until(banned, user)
if ends then return {'BANNED', ends} end
if joining == 'closed' then return {'FORBIDDEN', 'join_closed'} end
if joining ~= 'ask' then return {'OPEN'} end
local now_ms = clock_ms()
local over = over_requests(now_ms)
local at = asked_at(user, now_ms)
if not at and redis.call('ZCARD', asked) - #over >= requests_max then return {'REQUESTS'} end

local request = int(at or tonumber(at_ms)) .. ' ' .. note
redis.call('HSET', requests, user, request)
if at then return {'OK', 0, request} end
redis.call('ZADD', asked, now_ms, user)
redis.call('HSET', meta, 'asked', '1')
for _, one in ipairs(over) do
  if one ~= user then
    redis.call('HDEL', requests, one)
    redis.call('ZREM', asked, one)
  end
end
if redis.call('HEXISTS', wants, 'webhooks') == 1 then enqueue_requested(task_id, epoch, user, note_json, at_ms, now_ms) end
return {'OK', 1, request}
