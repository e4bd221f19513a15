-- Adds users as members who were named by a creation and still wait, with one notice for all.
--
-- KEYS  last_id meta members joined seen read msgs skip waiting core:enqueue wants
-- ARGV  epoch at_ms channel group mark head tail users...
--   mark, head, tail  of the notice of joining, before and after whom it concerns
-- Returns {OK, how many became members}
-- Refuses NOTFOUND if the group is another by now
-- include: add_members
-- include: notice_users
-- include: log_grew
local has_epoch, history = unpack(redis.call('HMGET', meta, 'epoch', 'history'))
if has_epoch ~= epoch then return {'NOTFOUND'} end
local now_ms, invited = clock_ms(), {mark = mark, users = {}, roles = {}}
for i = users, #ARGV do
  if redis.call('ZREM', waiting, ARGV[i]) == 1 and redis.call('HEXISTS', members, ARGV[i]) == 0 then
    local n = #invited.users + 1
    invited.users[n], invited.roles[n] = ARGV[i], 'member'
  end
end
if #invited.users == 0 then return {'OK', 0} end
invited.rest = head .. notice_users(invited.users) .. tail
log_grew(epoch, int(add_members(epoch, history, '0', at_ms, {invited})), now_ms)
return {'OK', #invited.users}
