-- Registers a device of a user, or changes where it leads. A device is kept as `<created ms> <kind> <secret> <JSON>`; one of the
-- same id and kind keeps its time and its secret, one of another kind is a new one.
--
-- KEYS  1 devices, 2 reachable
-- ARGV  1 user, 2 id, 3 created ms, 4 kind, 5 secret or '-', 6 JSON of the rest, 7 devices at most
-- Returns {OK, 1 where it is new, what is kept}
-- Refuses DEVICES
local devices, reachable = KEYS[1], KEYS[2]
local user, id, created_ms, kind, secret, rest, devices_max = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6],
  tonumber(ARGV[7])

local before = redis.call('HGET', devices, id)
if not before and redis.call('HLEN', devices) >= devices_max then return {'DEVICES'} end
local new = 1
if before then
  local had_ms, had_kind, had_secret = string.match(before, '^(%d+) (%S+) (%S+) ')
  if had_kind == kind then new, created_ms, secret = 0, had_ms, had_secret end
end

local kept = created_ms .. ' ' .. kind .. ' ' .. secret .. ' ' .. rest
redis.call('HSET', devices, id, kept)
redis.call('SADD', reachable, user)
return {'OK', new, kept}
