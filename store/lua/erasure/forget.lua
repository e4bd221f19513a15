-- Forgets an erasure that is done, if no group holds anything back.
--
-- KEYS  erasure erasure_groups erasure_held
-- Returns {OK}
if redis.call('HGET', erasure, 'state') == 'done' and redis.call('EXISTS', erasure_held) == 0 then
  redis.call('UNLINK', erasure, erasure_groups)
end
return {'OK'}
