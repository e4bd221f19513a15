-- append_thread counts a reply in its thread, and has follow who wrote it and whom it mentions.
-- needs: call in_thread mentioned meta members msgs chosen
-- include: base
local function append_thread(id)
  local q = in_thread.position
  -- bind: thread at q
  -- include: threads_change
  local root, from, at = tonumber(in_thread.root), in_thread.from, tonumber(id)
  local before = call('ZMSCORE', threads, in_thread.root, from .. ' ' .. in_thread.root)
  if not before[1] then
    begin_thread(root, in_thread.author)
    before = call('ZMSCORE', threads, in_thread.root, from .. ' ' .. in_thread.root)
  end
  local newest, read = tonumber(before[1]), tonumber(before[2] or 0)
  call('ZREM', replies, 'l' .. padded(newest) .. ' ' .. padded(root))
  call('ZADD', replies, '0', 'l' .. padded(at) .. ' ' .. padded(root), '0', 'r' .. padded(root) .. ' ' .. padded(at) .. ' ' .. from,
    '0', 'o' .. from .. ' ' .. padded(root) .. ' ' .. padded(at), '0', 'i' .. padded(at) .. ' ' .. padded(root) .. ' ' .. from)
  -- Who was at the end stays there.
  if before[2] and read >= newest then
    call('ZADD', threads, id, in_thread.root, id, from .. ' ' .. in_thread.root)
  else
    call('ZADD', threads, id, in_thread.root)
    if not before[2] and in_thread.member then follow(from, root, at) end
  end
  -- What notifies them later looks for the newest reply that mentions them: see notify/replies.lua.
  local marks = {}
  for _, user in ipairs(mentioned and mentioned.users or {}) do
    if not mentioned.all and not call('ZSCORE', threads, user .. ' ' .. in_thread.root) then follow(user, root, at - 1) end
    marks[#marks + 1], marks[#marks + 2] = id, user .. ' ' .. in_thread.root .. ' m'
  end
  if #marks > 0 then call('ZADD', threads, unpack(marks)) end
  if chosen then
    local archived_from = tonumber(call('HGET', meta, 'archived_from'))
    prune_threads(archived_from or at - call('ZCARD', msgs) + 1)
  end
end
