-- Reads a page of the members of a group in the order of joining. Only reads.
--
-- KEYS  meta members member_data mutes joined seen read
-- ARGV  user after limit:int bytes:int
--   user   the caller; '': an operator
--   after  `<joined id>.<user>` to continue after
--   bytes  of data, beyond which the page ends
-- Returns {OK, what to continue after or '', what receipts of the group say or '', then user, role, joined_at ms, seen, read, data ('' for none), muted until ('' for not muted)
--         of each}
-- Refuses NOTFOUND, FORBIDDEN
-- include: not_member
-- include: joined_page
local epoch, visibility, muted, receipts = unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'muted', 'receipts'))
if not epoch then return {'NOTFOUND'} end
if user ~= '' and redis.call('HEXISTS', members, user) == 0 then return not_member(visibility) end

local out, some_data = {'OK', '', receipts or ''}, redis.call('EXISTS', member_data) == 1
-- One more than the page shows whether there is a next one.
local page = joined_page(after, limit + 1)
for i = 1, math.min(#page, 2 * limit), 2 do
  local role, joined_ms = string.match(redis.call('HGET', members, page[i]), '^(%S+) (%d+)$')
  out[#out + 1] = page[i]
  out[#out + 1] = role
  out[#out + 1] = joined_ms
  out[#out + 1] = redis.call('ZSCORE', seen, page[i])
  out[#out + 1] = redis.call('ZSCORE', read, page[i])
  local data = some_data and redis.call('HGET', member_data, page[i]) or ''
  out[#out + 1] = data
  out[#out + 1] = muted and redis.call('ZSCORE', mutes, page[i]) or ''
  bytes = bytes - #data
  if bytes < 0 and i + 2 <= #page then
    out[2] = page[i + 1] .. '.' .. page[i]
    return out
  end
end
if #page > 2 * limit then out[2] = page[2 * limit] .. '.' .. page[2 * limit - 1] end
return out
