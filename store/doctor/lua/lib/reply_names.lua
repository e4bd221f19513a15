-- include: base
-- padded is an id of 16 digits, as it stands in replies: see store/lua/lib/threads.lua.
local function padded(id) return string.format('%016.0f', tonumber(id)) end

-- reply_names are the three members of replies that stand for a reply.
local function reply_names(id, root, author)
  return 'r' .. padded(root) .. ' ' .. padded(id) .. ' ' .. author, 'o' .. author .. ' ' .. padded(root) .. ' ' .. padded(id),
    'i' .. padded(id) .. ' ' .. padded(root) .. ' ' .. author
end
