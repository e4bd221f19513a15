-- Records which bytes have no record, and since when. Bytes that are not listed any longer are forgotten.
--
-- KEYS  orphans
-- ARGV  ids...
-- Returns {OK, for how many ms each has been noted}
-- include: base
local now_ms, noted, kept = clock_ms(), {}, {}
local all = redis.call('ZRANGE', orphans, 0, -1, 'WITHSCORES')
for i = 1, #all, 2 do noted[all[i]] = tonumber(all[i + 1]) end
local out = {'OK'}
for i = ids, #ARGV do
  kept[ARGV[i]] = true
  out[#out + 1] = int(now_ms - (noted[ARGV[i]] or now_ms))
end

for id in pairs(noted) do
  if not kept[id] then redis.call('ZREM', orphans, id) end
end
for i = ids, #ARGV do redis.call('ZADD', orphans, 'NX', int(now_ms), ARGV[i]) end
return out
