-- Reads a page of the open reports of a group, the newest first, for an owner, an admin or an operator: none about themself. Only
-- reads.
--
-- KEYS  meta members reports reporters
-- ARGV  caller operator:flag after limit:int bytes_max:int
--   after      id of the last one of the page before, or ''
--   bytes_max  of the records; the first one is read whatever its size
-- Returns {OK, id to continue after or '', records...}
-- Refuses NOTFOUND, FORBIDDEN
-- include: manage
local epoch, visibility = unpack(redis.call('HMGET', meta, 'epoch', 'visibility'))
if not epoch then return {'NOTFOUND'} end
local refused = may_manage(visibility, caller, operator)
if refused then return refused end
local ids, all = {}, redis.call('HGETALL', reporters)
for n = 1, #all, 2 do
  local from = string.match(all[n + 1], '^%S+ %S+ (%S+)')
  if all[n] > after and from ~= caller then ids[#ids + 1] = all[n] end
end
table.sort(ids)
local out, bytes = {'OK', ''}, 0
for i, id in ipairs(ids) do
  local record = redis.call('HGET', reports, id)
  bytes = bytes + #record
  if i > limit or i > 1 and bytes > bytes_max then
    out[2] = ids[i - 1]
    break
  end
  out[#out + 1] = record
end
return out
