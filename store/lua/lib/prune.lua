-- include: base
-- prune drops ids at or below floor, where they are no longer counted, from a set: at most 500.
local function prune(set, floor)
  if floor < 1 then return end
  local old = redis.call('ZCOUNT', set, '-inf', int(floor))
  if old > 0 then redis.call('ZREMRANGEBYRANK', set, 0, int(math.min(old, 500) - 1)) end
end
