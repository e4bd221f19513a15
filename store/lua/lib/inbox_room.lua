-- include: inbox_items
-- Items from the server replace only each other: inbox_server is a ZSET of their seqs, from which acked ones are
-- removed now and then.

-- inbox_index records an item from the server, and removes some that were acked.
local function inbox_index(inbox_server, seq, acked)
  redis.call('ZADD', inbox_server, seq, seq)
  local over = redis.call('ZRANGEBYSCORE', inbox_server, '-inf', int(acked), 'LIMIT', 0, 8)
  if #over > 0 then redis.call('ZREM', inbox_server, unpack(over)) end
end

-- inbox_displace removes the oldest unacked item from the server from an inbox. It returns false if there is none.
local function inbox_displace(inbox, inbox_base, inbox_server, base, acked, last)
  local seq = redis.call('ZRANGEBYSCORE', inbox_server, '(' .. int(acked), '+inf', 'LIMIT', 0, 1)[1]
  if not seq then return false end
  redis.call('ZREM', inbox_server, seq)
  seq = tonumber(seq)
  local stored = redis.call('LLEN', inbox)
  local index = inbox_rank(inbox, seq, stored, base, last) - 1
  local item = index >= 0 and redis.call('LINDEX', inbox, index)
  if not item or inbox_seq(item) ~= seq then return false end
  if index == 0 then
    redis.call('LPOP', inbox)
    base = seq
    redis.call('HSET', inbox_base, 'base', int(base), 'base_mark', inbox_mark_of(item))
  else
    redis.call('LREM', inbox, index < stored / 2 and 1 or -1, item)
  end
  redis.call('HSET', inbox_base, 'gaps', int(last - base - stored + 1))
  return true
end

-- inbox_drop drops the item that came last: its seq is missing. If one is missing at the end already, it stands for
-- both, and inbox_drop returns false.
local function inbox_drop(inbox, inbox_base, gaps, last, fields)
  local item = redis.call('LINDEX', inbox, -1)
  if item and inbox_seq(item) < last then return false end
  fields[#fields + 1] = 'gaps'
  fields[#fields + 1] = int(gaps + 1)
  redis.call('HSET', inbox_base, unpack(fields))
  return true
end
