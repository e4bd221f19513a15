-- Writes or removes a row of a table, if it is still as it was read, and signals it. Versions are times where they can be,
-- so that a store that was rolled back never gives a lost version again.
--
-- KEYS  tables rows rows_at rows_gone rows_used audit
-- ARGV  name id revision text rows_max:int channel audits_max:int notes(audit_id audited)...
--   revision  version of the row that was read; 0: there was none
--   text      '' removes it
--   notes     what the audit gets of it
-- Returns {OK, version of the row}
-- Refuses CONFLICT, TABLEFULL
-- include: base
-- include: audit
local current = redis.call('ZSCORE', rows_at, id) or '0'
if int(current) ~= revision then return {'CONFLICT'} end
if current == '0' and (text == '' or redis.call('HLEN', rows) >= rows_max) then
  return {text == '' and 'CONFLICT' or 'TABLEFULL'}
end
local version = math.max(clock_ms(), tonumber(redis.call('HGET', tables, name) or 0) + 1)

redis.call('HSET', tables, name, int(version))
if text ~= '' then
  redis.call('HSET', rows, id, text)
  redis.call('ZADD', rows_at, int(version), id)
  redis.call('ZREM', rows_gone, id)
else
  redis.call('HDEL', rows, id)
  redis.call('HDEL', rows_used, id)
  redis.call('ZREM', rows_at, id)
  redis.call('ZADD', rows_gone, int(version), id)
  -- Of so many removals nodes learn one by one; a node that missed older ones reads the table anew.
  if redis.call('ZCARD', rows_gone) > 1000 then
    local oldest = redis.call('ZRANGE', rows_gone, 0, 0, 'WITHSCORES')
    redis.call('ZREM', rows_gone, oldest[1])
    redis.call('HSET', tables, name .. ':forgotten', int(oldest[2]))
  end
end
for i = notes, #ARGV, notes_row do
  -- bind: notes at i
  note_audit('-', audit_id, audited)
end
redis.call(PUBLISH, channel, 't')
return {'OK', int(version)}
