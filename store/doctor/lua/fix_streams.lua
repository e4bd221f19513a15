-- Removes pieces of messages that nobody is writing, and has the settings say whether anything is being written.
--
-- KEYS  meta streams streamed
-- Returns {OK}
for _, field in ipairs(redis.call('HKEYS', streamed)) do
  if redis.call('HEXISTS', streams, string.match(field, '^%S+')) == 0 then redis.call('HDEL', streamed, field) end
end
if redis.call('EXISTS', streams) == 1 then redis.call('HSET', meta, 'streams', '1') else redis.call('HDEL', meta, 'streams') end
return {'OK'}
