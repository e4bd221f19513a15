-- Marks a whole file as lost, or, where its bytes are there again, as whole.
--
-- KEYS  files
-- ARGV  file lost:flag
-- Returns {OK}
local text = redis.call('HGET', files, file)
if not text then return {'OK'} end
if lost then
  redis.call('HSET', files, file, (string.gsub(text, '^whole ', 'lost ')))
else
  redis.call('HSET', files, file, (string.gsub(text, '^lost ', 'whole ')))
end
return {'OK'}
