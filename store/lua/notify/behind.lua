-- Reads members who have not read up to the newest text or data of a group, in the order of joining. A few are returned
-- all at once; otherwise each step checks a number of members, in the order of joining, which does not change
-- meanwhile. Only reads.
--
-- KEYS  meta joined read
-- ARGV  epoch after limit:int
--   after  `<joined id>.<user>` to continue after; 0: from the beginning
--   limit  members to check, at most 500
-- Returns {OK, what to continue after or '', the users}
-- Refuses NOTFOUND
-- include: joined_page
local has_epoch, newest_id = unpack(redis.call('HMGET', meta, 'epoch', 'newest'))
if has_epoch ~= epoch then return {'NOTFOUND'} end
local newest = tonumber(newest_id or 0)
if newest == 0 then return {'OK', ''} end
local below = '(' .. newest_id
local behind = redis.call('ZCOUNT', read, '-inf', below)
if behind == 0 then return {'OK', ''} end
if after == '0' and behind <= limit then return {'OK', '', unpack(redis.call('ZRANGEBYSCORE', read, '-inf', below))} end

local page = joined_page(after, limit)
local users = {}
for i = 1, #page, 2 do users[#users + 1] = page[i] end
if #users == 0 then return {'OK', ''} end
local out = {'OK', #users == limit and page[#page] .. '.' .. users[#users] or ''}
for i, at in ipairs(redis.call('ZMSCORE', read, unpack(users))) do
  if at and tonumber(at) < newest then out[#out + 1] = users[i] end
end
return out
