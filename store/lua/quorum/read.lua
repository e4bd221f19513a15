-- Reads a quorum as it stands now, and a page of those who have not read the message. It is decided if it can be.
--
-- KEYS  meta members joined read msgs quorums core:enqueue
-- ARGV  user group id after limit:int
--   user   the caller; '': the server
--   after  `<joined id>.<user>` to go on after, or 0
-- Returns {OK, epoch, the quorum, how many have to read, how many have, what to go on after or '', users...}
-- Refuses NOTFOUND, FORBIDDEN
-- include: not_member
-- include: joined_page
-- include: quorum
local epoch, visibility, history = unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'history'))
if not epoch then return {'NOTFOUND'} end
if user ~= '' and redis.call('HEXISTS', members, user) == 0 then return not_member(visibility) end
local text = redis.call('HGET', quorums, id)
if not text then return {'NOTFOUND'} end
local m, q = tonumber(id), quorum_of(text)
if user ~= '' and history == '0' and m < tonumber(redis.call('ZSCORE', joined, user)) then return {'NOTFOUND'} end
local of = q.state == 'open' and int(quorum_settle(id, q, clock_ms())) or q.of
local out = {'OK', epoch, quorum_text(q), of, q.read, ''}
local function pending(one) return one ~= q.author and tonumber(redis.call('ZSCORE', read, one) or 0) < m end
if q.kind == 'users' then
  for one in string.gmatch(q.users, '[^,]+') do
    local at = redis.call('ZSCORE', joined, one)
    if at and tonumber(at) < m and pending(one) then out[#out + 1] = one end
  end
  return out
end
local page = joined_page(after, 500)
for i = 1, #page, 2 do
  if tonumber(page[i + 1]) > m then return out end
  if pending(page[i]) then out[#out + 1] = page[i] end
  if #out == 6 + limit or i == 999 then
    out[6] = page[i + 1] .. '.' .. page[i]
    return out
  end
end
return out
