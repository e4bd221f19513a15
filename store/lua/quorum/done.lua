-- Notes that the reminders of a quorum up to one are sent, or that its end was announced.
--
-- KEYS  quorums
-- ARGV  id at_ms sent announced:flag
--   at_ms  when it was asked: another one is left alone
-- Returns {OK}
local text = redis.call('HGET', quorums, id)
if not text then return {'OK'} end
local words = {}
for word in string.gmatch(text, '%S+') do words[#words + 1] = word end
if words[7] ~= at_ms then return {'OK'} end
if tonumber(sent) > tonumber(words[11]) then words[11] = sent end
if announced then words[15] = '1' end
redis.call('HSET', quorums, id, table.concat(words, ' '))
return {'OK'}
