-- Reads which readable messages name files that do not know of it. Only reads.
--
-- KEYS  last_id meta msgs files files_named
-- ARGV  from:int limit:int
-- Returns {OK, how many were read, then the id of a message, that of a file, and 1 if it has a record, of each}
local last, archived_from = tonumber(redis.call('GET', last_id) or 0), redis.call('HGET', meta, 'archived_from')
local first = last - redis.call('ZCARD', msgs) + 1
if archived_from then first = math.min(first, tonumber(archived_from)) end
local out, list = {'OK', 0}, redis.call('ZRANGE', files_named, from, from + limit - 1)
out[2] = #list
for _, member in ipairs(list) do
  local message, id = string.match(member, '^(%d+) (%S+)')
  local text = redis.call('HGET', files, id or '')
  local refs = string.match(text or '', '^%S+ %S+ %d+ %d+ %d+ %d+ %S+ %d+ %S+ (%S+)')
  local known = refs and string.find(',' .. refs .. ',', ',' .. message .. ',', 1, true)
  if not known and tonumber(message or first) >= first then
    local n = #out
    out[n + 1], out[n + 2], out[n + 3] = message or member, id or '', text and 1 or 0
  end
end
return out
