-- Erases what a sender wrote in someone's inbox, among the items behind a seq: at most 200 of them, until they are bytes_max
-- long together. An erased item keeps its seq, its mark and its time.
--
-- KEYS  inbox inbox_base inbox_sent erased_counts
-- ARGV  from after:int bytes_max:int deleted_at erasure_id
--   inbox_sent  of the sender
--   deleted_at  as it stands in JSON
-- Returns {OK, seq to go on behind, or 0 at the end}
-- include: inbox_items
local base, gaps = unpack(redis.call('HMGET', inbox_base, 'base', 'gaps'))
base = tonumber(base or 0)
local stored = redis.call('LLEN', inbox)
local rank = inbox_rank(inbox, after, stored, base, base + stored + tonumber(gaps or 0))
local erased, read, bytes, seq = 0, 0, 0, after
local kind = '"kind":"direct",'
local head = kind .. '"from":"' .. from .. '",'
while read < 200 and bytes < bytes_max do
  local some = redis.call('LRANGE', inbox, rank + read, rank + read + 7)
  for i, item in ipairs(some) do
    bytes = bytes + #item
    local start, number = string.match(item, '^([^{]*{"seq":(%d+),)')
    seq = tonumber(number)
    if string.sub(item, #start + 1, #start + #head) == head then
      -- What a client wrote comes before sent_at; behind it stand only ids and times.
      local sent_at = string.match(item, '("sent_at":"[^"]*")[^{}%[%]]*}$')
      if sent_at then
        redis.call('LSET', inbox, rank + read + i - 1, start .. kind .. sent_at .. ',"deleted_at":"' .. deleted_at .. '"}')
        erased = erased + 1
      end
    end
  end
  read = read + #some
  if #some < 8 then
    seq = 0
    break
  end
end
redis.call('UNLINK', inbox_sent)
if erased > 0 then redis.call('HINCRBY', erased_counts, erasure_id, erased) end
return {'OK', int(seq)}
