-- Compares the seqs of an inbox's items with their positions in the list, and with where the inbox begins and ends. It stops
-- after limit items, or once it has read 256 kB. Only reads.
--
-- KEYS  inbox inbox_base
-- ARGV  from:int limit:int
-- Returns {OK, index to continue from or 0, what is wrong}
-- include: base
local wrong = {}
local epoch, base, gaps, acked, notified = unpack(redis.call('HMGET', inbox_base, 'epoch', 'base', 'gaps', 'acked', 'told'))
local stored = redis.call('LLEN', inbox)
base, gaps, acked, notified = tonumber(base or 0), tonumber(gaps or 0), tonumber(acked or 0), tonumber(notified or 0)
local last = base + stored + gaps
local function found(...) wrong[#wrong + 1] = string.format(...) end
if not epoch then found('has no epoch') end
if acked > last then found('is acked up to %.0f, but ends at %.0f', acked, last) end
if gaps < 0 then found('has %.0f gaps', gaps) end
if notified > last then found('has notified up to %.0f, but ends at %.0f', notified, last) end

local position, before, bytes = from, nil, 0
if from > 0 then
  local item = redis.call('LINDEX', inbox, from - 1)
  before = item and tonumber(string.match(item, '^[^{]*{"seq":(%d+)[,}]'))
end
local page
repeat
  page = redis.call('LRANGE', inbox, position, position + 15)
  for _, item in ipairs(page) do
    local seq = tonumber(string.match(item, '^[^{]*{"seq":(%d+)[,}]'))
    position, bytes = position + 1, bytes + #item
    if not seq then
      found('has an unreadable item at position %.0f', position)
    elseif seq <= (before or base) or seq > last then
      found('has item %.0f at position %.0f: want a number after %.0f and up to %.0f', seq, position, before or base, last)
    end
    before = seq or before
  end
until #page < 16 or position - from >= limit or bytes > 262144
return {'OK', #page == 16 and position or 0, wrong}
