-- Registers a device of a user, or changes its address. A device is stored as `<created ms> <kind> <secret> <JSON>`;
-- one with the same id and kind keeps its time and its secret, one of another kind is replaced.
--
-- KEYS  devices reachable
-- ARGV  user id created_ms kind secret rest devices_max:int
--   secret  or '-'
--   rest    JSON
-- Returns {OK, 1 if it is new, the device as stored}
-- Refuses DEVICES
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
