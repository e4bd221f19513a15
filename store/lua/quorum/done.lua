-- Notes that the reminders of a quorum up to one are sent, and the next to some members, or that its end was announced.
--
-- KEYS  quorums
-- ARGV  id at_ms sent after announced:flag
--   at_ms  when it was asked: another one is left alone
--   after  where the next reminder goes on
-- Returns {OK}
local text = redis.call('HGET', quorums, id)
if not text then return {'OK'} end
local words = {}
for word in string.gmatch(text, '%S+') do words[#words + 1] = word end
if words[7] ~= at_ms then return {'OK'} end
if tonumber(sent) >= tonumber(words[11]) then words[11], words[17] = sent, after end
if announced then words[15] = '1' end
redis.call('HSET', quorums, id, table.concat(words, ' '))
return {'OK'}
