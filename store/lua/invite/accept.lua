-- Makes a user a member by an invitation, and counts the use.
--
-- KEYS  last_id meta members bans requests asked joined managers seen read msgs skip reactions reacted core:enqueue wants invites
-- ARGV  user invite hash at_ms mark rest members_max:int channel task_id group trim_id
--   invite      its id
--   hash        of the code
--   mark, rest  of the notice
--   trim_id     of a task that continues if there is more to trim
-- Returns {OK, 1 if added, 0 if a member already, at no cost}
-- Refuses NOTFOUND, INVITEGONE, TOOMANY, BANNED until ms
-- include: base
-- include: banned
-- include: invitation
local epoch, history, keep, backlog_max, banned, has_asked =
  unpack(redis.call('HMGET', meta, 'epoch', 'history', 'keep', 'backlog_max', 'banned', 'asked'))
-- include: join
local record = redis.call('HGET', invites, invite)
if not epoch or not record then return {'NOTFOUND'} end
local i, now_ms = invitation_of(record), clock_ms()
if i.hash ~= hash then return {'NOTFOUND'} end
if redis.call('HEXISTS', members, user) == 1 then return {'OK', 0} end
if not invitation_open(i, now_ms) or not may_invite(i) then return {'INVITEGONE'} end
local ends = banned_until(banned, user)
if ends then return {'BANNED', ends} end
if redis.call('HLEN', members) >= members_max then return {'TOOMANY'} end

i.used = int(tonumber(i.used) + 1)
redis.call('HSET', invites, invite, invitation_text(i))
join(user, i.role, 'joined', now_ms)
return {'OK', 1}
