-- Reads a group as one user sees it, with a page of its messages: replaces a transaction of group/infos.lua and a range
-- on a server that is full and queues nothing. Only reads.
--
-- KEYS  last_id meta members joined seen read msgs skip by at
-- ARGV  user from before:flag limit:int bytes_max:int
--   by, at     of the user
--   from       the lowest id, or if before is set the id that all are below
--   bytes_max  of the messages; the first one to exceed it is the last, and 0 means none
-- Returns {OK, the info as in group/infos.lua, the messages, descending if before is set}; no messages for others than members
-- include: info
local info = info_of(user, last_id, meta, members, joined, seen, read, msgs, skip, by, at)
if not info[25] then return {'OK', info} end
local page, bytes = {}, 0
local command, far = 'ZRANGEBYSCORE', '+inf'
if before then command, far, from = 'ZREVRANGEBYSCORE', '-inf', '(' .. from end
while #page < limit and bytes < bytes_max do
  local some = redis.call(command, msgs, from, far, 'LIMIT', 0, math.min(limit - #page, 32))
  for _, entry in ipairs(some) do
    if bytes >= bytes_max then break end
    page[#page + 1] = entry
    bytes = bytes + #entry
  end
  if #some == 0 then break end
  from = '(' .. string.match(some[#some], '^%d+')
end
return {'OK', info, page}
