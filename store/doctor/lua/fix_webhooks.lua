-- Recounts the webhooks in use, and drops the recorded attempts for webhooks that are gone. The list gets a new version, so that
-- it is copied to the partitions.
--
-- KEYS  webhooks webhooks_state webhooks_health
-- Returns {OK}
local all, used = redis.call('HGETALL', webhooks), 0
for i = 2, #all, 2 do
  if string.sub(all[i], 1, 2) == '1 ' then used = used + 1 end
end
local version = redis.call('HINCRBY', webhooks_state, 'version', 1)
local generation = tonumber(redis.call('HGET', webhooks_state, 'generation') or 0)
if used == 0 then generation = 0 elseif generation == 0 then generation = version end
redis.call('HSET', webhooks_state, 'used', used, 'generation', string.format('%.0f', generation))
local attempted = redis.call('HGETALL', webhooks_health)
for i = 1, #attempted, 2 do
  if redis.call('HEXISTS', webhooks, attempted[i]) == 0 then redis.call('HDEL', webhooks_health, attempted[i]) end
end
return {'OK'}
