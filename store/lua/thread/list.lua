-- Reads a page of the threads of a group that a member may see, those with the newest replies first. It looks at 500 threads at most.
-- Only reads.
--
-- KEYS  last_id meta members joined msgs threads replies
-- ARGV  user after limit:int following:flag unread:flag
--   after      `<newest reply> <root>`, of 16 digits each, of the last one of the page before, or ''
--   following  only those that the user follows
--   unread     only those of which the user has replies to read
-- Returns {OK, what to continue after or '', then root, replies, newest reply, unread, 1 if the user follows it, what they have read, ... of
--       each}
-- Refuses NOTFOUND, FORBIDDEN
-- include: thread_reader
local refused, oldest, visible = thread_reader()
if refused then return refused end
local keys = {}
if following or unread then
  for _, t in ipairs(followed(user, visible)) do
    local key = padded(t.newest) .. ' ' .. padded(t.root)
    local wanted = not unread or unread_replies(user, t.root, t.newest, t.read, oldest) > 0
    if t.newest >= oldest and t.newest > 0 and wanted and (after == '' or key < after) then keys[#keys + 1] = key end
  end
  table.sort(keys, function(a, b) return a > b end)
else
  local from = after == '' and '(m' or '(l' .. after
  for _, entry in ipairs(redis.call('ZREVRANGEBYLEX', replies, from, '[l' .. padded(math.max(oldest, 1)), 'LIMIT', 0, 500)) do
    keys[#keys + 1] = string.sub(entry, 2)
  end
end
local out, found = {'OK', #keys >= 500 and not (following or unread) and keys[500] or ''}, 0
for i, key in ipairs(keys) do
  local newest, root = string.match(key, '^(%d+) (%d+)$')
  root = tonumber(root)
  if root >= visible then
    if found == limit then
      out[2] = keys[i - 1]
      break
    end
    found = found + 1
    out[#out + 1] = int(root)
    for _, value in ipairs({thread_row(root, newest, oldest)}) do out[#out + 1] = value end
  end
end
return out
