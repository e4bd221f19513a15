-- Reads everything stored about webhooks. Only reads.
--
-- KEYS  webhooks webhooks_state webhooks_health
-- Returns {OK, id and webhook of each, how many are in use, generation and version of the list, ids of those whose attempts are
--       recorded}
local state = redis.call('HMGET', webhooks_state, 'used', 'generation', 'version')
local attempted, ids = redis.call('HGETALL', webhooks_health), {}
for i = 1, #attempted, 2 do ids[#ids + 1] = attempted[i] end
return {'OK', redis.call('HGETALL', webhooks), state[1] or '0', state[2] or '0', state[3] or '0', ids}
