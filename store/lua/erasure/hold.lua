-- Records in a group under a legal hold that an erasure waits for its end; without a hold, removes that record.
--
-- KEYS  last_id meta erasures
-- ARGV  erasure_id user epoch
-- Returns {OK, 1 if it waits}
-- include: hold
if redis.call('HGET', meta, 'epoch') ~= epoch or not legal_hold() then
  redis.call('HDEL', erasures, erasure_id)
  return {'OK', 0}
end
redis.call('HSETNX', erasures, erasure_id, user .. ' ' .. epoch .. ' ' .. redis.call('GET', last_id))
return {'OK', 1}
