-- Cancels the quorum of a message, for its author and who manages the group.
--
-- KEYS  meta members joined read msgs quorums core:enqueue
-- ARGV  caller operator:flag group id
-- Returns {OK}
-- Refuses NOTFOUND, FORBIDDEN, CONFLICT (it is decided)
-- include: manage
-- include: quorum
local epoch, visibility = unpack(redis.call('HMGET', meta, 'epoch', 'visibility'))
if not epoch then return {'NOTFOUND'} end
if not operator and not role_of(caller) then return not_member(visibility) end
local text = redis.call('HGET', quorums, id)
if not text then return {'NOTFOUND'} end
local q = quorum_of(text)
if caller ~= q.author and may_manage(visibility, caller, operator) then return {'FORBIDDEN', 'author'} end
if q.state == 'cancelled' then return {'OK'} end
if q.state ~= 'open' then return {'CONFLICT'} end
local now_ms = clock_ms()
local of = quorum_settle(id, q, now_ms)
if q.state == 'open' then quorum_end(id, q, 'cancelled', of, now_ms) end
return {'OK'}
