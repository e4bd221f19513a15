-- Reads entries of several logs, in turns and up to a number of bytes, so that no answer grows with what is stored.
-- Only reads.
--
-- KEYS  logs(msgs)...
-- ARGV  bytes_max:int pages(skip from before count)...
--   bytes_max  of all entries together; the first one to exceed it is the last
--   skip       how many entries to skip first
--   from       the lowest id, or
--   before     > 0: downward, from before this id
--   count      maximum
-- Returns {OK, entries of the first log, of the second, ...}

local wanted, position, out, bytes = {}, pages, {'OK'}, 0
for i = logs, #KEYS, logs_row do
  -- bind: logs at i
  -- bind: pages at position
  local down = before ~= '0'
  wanted[#wanted + 1] = {msgs = msgs, command = down and 'ZREVRANGEBYSCORE' or 'ZRANGEBYSCORE', far = down and '-inf' or '+inf',
    at = down and '(' .. before or from, skip = tonumber(skip), left = tonumber(count)}
  out[#out + 1] = {}
  position = position + pages_row
end
-- In the first turn each log gets as many entries as fit if all have the largest default size.
local turn = math.max(1, math.min(32, math.floor(bytes_max / (#wanted * 32768))))
local open = #wanted
while open > 0 do
  open = 0
  for i, w in ipairs(wanted) do
    if w.left > 0 then
      local asked, got = math.min(w.left, turn), out[i + 1]
      local page = redis.call(w.command, w.msgs, w.at, w.far, 'LIMIT', w.skip, asked)
      for _, entry in ipairs(page) do
        got[#got + 1] = entry
        bytes = bytes + #entry
        if bytes >= bytes_max then return out end
      end
      w.left = #page == asked and w.left - asked or 0
      if w.left > 0 then
        w.at, w.skip = '(' .. string.match(page[asked], '^%d+'), 0
        open = open + 1
      end
    end
  end
  turn = math.min(32, turn * 4)
end
return out
