-- append_slow remembers when a member sent in slow mode, and drops some who have waited long enough.
-- needs: call slow slow_s slowed
-- include: base
local function append_slow(user)
  local waited = call('ZRANGEBYSCORE', slow, '-inf', int(slowed - tonumber(slow_s) * 1000), 'LIMIT', 0, 10)
  if #waited > 0 then call('ZREM', slow, unpack(waited)) end
  call('ZADD', slow, int(slowed), user)
end
