-- Reads which messages of a group are being written, and what of a text belongs to none of them. Only reads.
--
-- KEYS  meta streams streamed
-- Returns {OK, epoch, 1 if the settings say that something is being written, pieces of no message, id ...}
local epoch, known = unpack(redis.call('HMGET', meta, 'epoch', 'streams'))
local open, out, stray = {}, {'OK', epoch or '', known and 1 or 0, 0}, 0
for _, id in ipairs(redis.call('HKEYS', streams)) do
  open[id] = true
  out[#out + 1] = id
end
for _, field in ipairs(redis.call('HKEYS', streamed)) do
  if not open[string.match(field, '^%S+')] then stray = stray + 1 end
end
out[4] = stray
return out
