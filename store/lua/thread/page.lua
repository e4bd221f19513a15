-- Reads a page of the ids of the replies in a thread, and how a member stands to it. Only reads.
--
-- KEYS  last_id meta members joined msgs threads replies
-- ARGV  user root:int after:int before:int limit:int
--   after   the ids above it, ascending
--   before  > 0: the ids below it, descending
-- Returns {OK, replies, newest reply, unread, 1 if the user follows it, what they have read, 1 if there are more, ids...}
-- Refuses NOTFOUND (also of a root below what the user may read), FORBIDDEN
-- include: thread_reader
local refused, oldest, visible = thread_reader()
if refused then return refused end
if root < visible then return {'NOTFOUND'} end
local out = {'OK', thread_row(root, redis.call('ZSCORE', threads, int(root)), oldest)}
local low, high = reply_range(root, math.max(after, oldest - 1))
local ids
if before > 0 then
  ids = redis.call('ZREVRANGEBYLEX', replies, '(r' .. padded(root) .. ' ' .. padded(before), low, 'LIMIT', 0, limit + 1)
else
  ids = redis.call('ZRANGEBYLEX', replies, low, high, 'LIMIT', 0, limit + 1)
end
-- A thread that has ended has no replies.
if out[2] == 0 then ids = {} end
out[7] = #ids > limit and 1 or 0
for i = 1, math.min(#ids, limit) do out[7 + i] = int(tonumber(string.match(ids[i], '^r%d+ (%d+)'))) end
return out
