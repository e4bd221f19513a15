-- Moves what a member has read of a thread forward, never back. Of one that they do not follow it changes nothing.
--
-- KEYS  last_id meta members joined msgs threads replies
-- ARGV  user root:int id:int
-- Returns {OK, replies, newest reply, unread, 1 if the user follows it, what they have read}
-- Refuses NOTFOUND, FORBIDDEN, OUTOFRANGE
-- include: thread_reader
local refused, oldest, visible = thread_reader()
if refused then return refused end
if root < visible then return {'NOTFOUND'} end
local last = tonumber(redis.call('GET', last_id))
if id > last then return {'OUTOFRANGE', 'id', 0, int(last)} end
redis.call('ZADD', threads, 'XX', 'GT', int(id), user .. ' ' .. int(root))
return {'OK', thread_row(root, redis.call('ZSCORE', threads, int(root)), oldest)}
