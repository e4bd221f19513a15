-- Asks that a text or data be read until a time, or changes what is asked as long as that is open.
--
-- KEYS  last_id meta members joined read msgs quorums core:enqueue
-- ARGV  caller operator:flag group id author by kind number users ends_ms:int remind escalate open_max:int kept_max:int task_id
--   author, by  who sent the message, and who asks
--   users       with kind users, joined by commas, else -; remind: `<after s>:<via>` joined by commas, or -; escalate: users, or -
--   open_max    open quorums of the group; kept_max: all of them
-- Returns {OK, 1 if it is new}
-- Refuses NOTFOUND, FORBIDDEN, CONFLICT, QUORUMS, QUORUMUSER
-- include: manage
-- include: quorum
local epoch, visibility, expired = unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'expired'))
if not epoch then return {'NOTFOUND'} end
if not operator and not role_of(caller) then return not_member(visibility) end
if caller ~= author then
  local refused = may_manage(visibility, caller, operator)
  if refused then return {'FORBIDDEN', 'author'} end
end
if tonumber(id) > tonumber(redis.call('GET', last_id)) then return {'NOTFOUND'} end
if expired and tonumber(expired) >= tonumber(id) then return {'NOTFOUND'} end
local stored = redis.call('ZRANGEBYSCORE', msgs, id, id)[1]
if stored and string.match(stored, '^%d+ %S+ x ') then return {'NOTFOUND'} end
for user in string.gmatch(users == '-' and '' or users, '[^,]+') do
  local at = redis.call('ZSCORE', joined, user)
  if not at or tonumber(at) > tonumber(id) or user == author then return {'QUORUMUSER'} end
end
for user in string.gmatch(escalate == '-' and '' or escalate, '[^,]+') do
  if redis.call('HEXISTS', members, user) == 0 then return {'QUORUMUSER'} end
end
local now_ms = clock_ms()
local before = redis.call('HGET', quorums, id)
local old = before and quorum_of(before)
if old and old.state ~= 'cancelled' and old.kind == kind and old.number == number and old.users == users and old.ends_ms == int(ends_ms) and
  old.remind == remind and old.escalate == escalate then return {'OK', 0} end
if old and (old.state == 'met' or old.state == 'missed') then return {'CONFLICT'} end
if not old or old.state ~= 'open' then
  if tonumber(redis.call('HGET', meta, 'quorums') or 0) >= open_max then return {'QUORUMS'} end
  redis.call('HINCRBY', meta, 'quorums', 1)
end
if not old and redis.call('HLEN', quorums) >= kept_max then
  local all, oldest, at = redis.call('HGETALL', quorums), nil, nil
  for i = 1, #all, 2 do
    local q = quorum_of(all[i + 1])
    if q.state ~= 'open' and (not at or tonumber(q.at_ms) < at) then oldest, at = all[i], tonumber(q.at_ms) end
  end
  if oldest then redis.call('HDEL', quorums, oldest) end
end
local q = {state = 'open', kind = kind, number = number, users = users, author = author, by = by, at_ms = int(now_ms), ends_ms = int(ends_ms),
  remind = remind, escalate = escalate, done = '0', decided_ms = '0', of = '0', read = '0', announced = '0', counted = '0', after = '0'}
quorum_count(id, q)
redis.call('HSET', quorums, id, quorum_text(q))
quorum_settle(id, q, now_ms)
if q.state == 'open' then enqueue_quorum(task_id, epoch, id, 0, now_ms) end
return {'OK', old and old.state == 'open' and 0 or 1}
