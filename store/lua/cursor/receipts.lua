-- Reads how far the members of a group have seen and read a message. Only reads.
--
-- KEYS  last_id meta members joined seen read msgs
-- ARGV  user id found:int sender after limit:int
--   user    the caller
--   found   1 if the message was found
--   sender  of it, '' if it was not found, or its sender was erased
--   after   `<joined id>.<user>` to continue after
-- Returns {OK, members except the sender, seen by, read by, what to continue after or '', all members, what receipts of the
--         group say or '', then user, seen, read of each};
--         all members if the message is trimmed
-- Refuses NOTFOUND, FORBIDDEN
-- include: not_member
-- include: joined_page
local epoch, visibility, history, receipts = unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'history', 'receipts'))
if not epoch then return {'NOTFOUND'} end
if redis.call('HEXISTS', members, user) == 0 then return not_member(visibility) end
local last, n = tonumber(redis.call('GET', last_id)), tonumber(id)
if n < 1 or n > last then return {'NOTFOUND'} end
if history == '0' and n < tonumber(redis.call('ZSCORE', joined, user)) then return {'NOTFOUND'} end
if n <= last - redis.call('ZCARD', msgs) then
  sender = '' -- the sender is no longer known
elseif found == 0 then
  return {'NOTFOUND'} -- it came after the caller looked for it
end

-- $archive reads too, but is not a member; the sender is left out.
local function others(set)
  local count = redis.call('ZCOUNT', set, id, '+inf')
  for _, one in ipairs({'$archive', sender}) do
    local at = redis.call('ZSCORE', set, one)
    if at and tonumber(at) >= n then count = count - 1 end
  end
  return count
end
local all = redis.call('HLEN', members)
local out = {'OK', all - redis.call('HEXISTS', members, sender), others(seen), others(read), '', all, receipts or ''}
-- Two more than the page: one may be the sender, and one shows whether there is a next page.
local page = joined_page(after, limit + 2)
local count, at = 0, ''
for i = 1, #page, 2 do
  if page[i] ~= sender then
    if count == limit then
      out[5] = at
      break
    end
    count, at = count + 1, page[i + 1] .. '.' .. page[i]
    out[#out + 1] = page[i]
    out[#out + 1] = redis.call('ZSCORE', seen, page[i])
    out[#out + 1] = redis.call('ZSCORE', read, page[i])
  end
end
return out
