-- Makes a message and a file that it names agree: the record lists the message, or the message names a file that is gone no longer.
--
-- KEYS  files files_named
-- ARGV  file message:int
-- Returns {OK}
-- include: base
local text, id = redis.call('HGET', files, file), int(message)
if text then
  local head, refs, json = string.match(text, '^(%S+ %S+ %d+ %d+ %d+ %d+ %S+ %d+ %S+) (%S+) (.*)$')
  if string.find(',' .. refs .. ',', ',' .. id .. ',', 1, true) then return {'OK'} end
  local ids = {message}
  for ref in string.gmatch(refs, '%d+') do ids[#ids + 1] = tonumber(ref) end
  table.sort(ids)
  for i, ref in ipairs(ids) do ids[i] = int(ref) end
  redis.call('HSET', files, file, head .. ' ' .. table.concat(ids, ',') .. ' ' .. json)
  return {'OK'}
end
for _, member in ipairs(redis.call('ZRANGEBYSCORE', files_named, id, id)) do
  if string.match(member, '^%d+ (%S+)') == file then redis.call('ZREM', files_named, member) end
end
return {'OK'}
