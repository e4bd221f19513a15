-- Reads how many replies messages have. Only reads.
--
-- KEYS  last_id meta msgs threads replies
-- ARGV  ids...
-- Returns {OK, id, replies, newest reply, ... for each that has any}
-- include: threads
local out, scores = {'OK'}, redis.call('ZMSCORE', threads, unpack(ARGV, ids))
local archived_from = tonumber(redis.call('HGET', meta, 'archived_from'))
local oldest = archived_from or tonumber(redis.call('GET', last_id) or 0) - redis.call('ZCARD', msgs) + 1
for i = 1, #scores do
  local root, newest = ARGV[ids + i - 1], tonumber(scores[i] or 0)
  local count = newest >= oldest and newest > 0 and count_replies(tonumber(root), oldest - 1) or 0
  if count > 0 then out[#out + 1], out[#out + 2], out[#out + 3] = root, count, int(newest) end
end
return out
