-- Lists users in a ZSET of a group who are not members, for a range of its ranks. Only reads.
--
-- KEYS  members set
-- ARGV  from:int limit:int
-- Returns {OK, rank to continue from or 0, the users}
local page = redis.call('ZRANGE', set, from, from + limit - 1)
local strays = {}
if #page > 0 then
  for i, role in ipairs(redis.call('HMGET', members, unpack(page))) do
    if not role and page[i] ~= '$archive' then strays[#strays + 1] = page[i] end
  end
end
return {'OK', #page == limit and from + limit or 0, strays}
