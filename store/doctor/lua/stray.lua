-- Lists who is in a ZSET of a group and no member, of some ranks of it. Only reads.
--
-- KEYS  members set
-- ARGV  from:int limit:int
-- Returns {OK, rank to go on from or 0, the strays}
local page = redis.call('ZRANGE', set, from, from + limit - 1)
local strays = {}
if #page > 0 then
  for i, role in ipairs(redis.call('HMGET', members, unpack(page))) do
    if not role and page[i] ~= '$archive' then strays[#strays + 1] = page[i] end
  end
end
return {'OK', #page == limit and from + limit or 0, strays}
