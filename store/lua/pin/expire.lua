-- Unpins the messages of a group that are too old, and are gone from its log or go now.
--
-- KEYS  meta retention pins pinned
-- ARGV  epoch days:int
--   days  after which they are too old
-- Returns {OK, when the oldest that is left was sent, in ms; 0: none is left}
-- Refuses NOTFOUND (the group is gone), CONFLICT (another number of days holds), HELD
-- include: hold
-- include: retention
-- include: pins
if redis.call('HGET', meta, 'epoch') ~= epoch then return {'NOTFOUND'} end
local held = legal_hold()
if held then return held end
if days_of_group() ~= days then return {'CONFLICT'} end
local before, oldest, all = clock_ms() - days * 86400000, 0, redis.call('HGETALL', pins)

for n = 1, #all, 2 do
  local sent_ms = pin_of(all[n + 1]).sent_ms
  if sent_ms < before then
    drop_pin(all[n])
  elseif oldest == 0 or sent_ms < oldest then
    oldest = sent_ms
  end
end
return {'OK', int(oldest)}
