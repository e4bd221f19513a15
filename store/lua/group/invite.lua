-- Adds users as members who were named by a creation and still wait.
--
-- KEYS  last_id meta members joined seen read msgs skip waiting core:enqueue wants
-- ARGV  epoch at_ms channel group users(user mark rest)...
--   mark, rest  of the notice of joining
-- Returns {OK, how many became members}
-- Refuses NOTFOUND if the group is another by now
-- include: add_members
-- include: log_grew
local has_epoch, history = unpack(redis.call('HMGET', meta, 'epoch', 'history'))
if has_epoch ~= epoch then return {'NOTFOUND'} end
local now_ms, invited = clock_ms(), {}
for i = users, #ARGV, users_row do
  -- bind: users at i
  if redis.call('ZREM', waiting, user) == 1 and redis.call('HEXISTS', members, user) == 0 then
    local n = #invited
    invited[n + 1], invited[n + 2], invited[n + 3] = user, mark, rest
  end
end
if #invited == 0 then return {'OK', 0} end
local first = add_members(epoch, history, 'member', at_ms, invited)
log_grew(epoch, int(first + #invited / 3 - 1), now_ms, false, first)
return {'OK', #invited / 3}
