-- Reads who follows a thread and has neither read nor been notified of its newest reply, a page at a time. Only reads.
--
-- KEYS  meta threads replies
-- ARGV  epoch root:int after limit:int
--   after  the user to continue after; '': from the beginning
--   limit  followers to check, at most 500
-- Returns {OK, what to continue after or '', the users}
-- Refuses NOTFOUND
-- include: threads
if redis.call('HGET', meta, 'epoch') ~= epoch then return {'NOTFOUND'} end
local newest = tonumber(redis.call('ZSCORE', threads, int(root)) or 0)
if newest == 0 then return {'OK', ''} end
local first = 't' .. padded(root) .. ' '
local from = after == '' and '[' .. first or '(' .. first .. after
local page = redis.call('ZRANGEBYLEX', replies, from, '(t' .. padded(root) .. '!', 'LIMIT', 0, limit)
if #page == 0 then return {'OK', ''} end
local users, names = {}, {}
for i, entry in ipairs(page) do
  users[i] = string.sub(entry, #first + 1)
  names[#names + 1], names[#names + 2] = users[i] .. ' ' .. int(root), users[i] .. ' ' .. int(root) .. ' n'
end
local out = {'OK', #page == limit and users[#users] or ''}
local scores = redis.call('ZMSCORE', threads, unpack(names))
for i, user in ipairs(users) do
  local read, notified_to = scores[2 * i - 1], scores[2 * i]
  if read and math.max(tonumber(read), tonumber(notified_to or 0)) < newest then out[#out + 1] = user end
end
return out
