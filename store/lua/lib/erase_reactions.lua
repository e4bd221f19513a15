-- include: base
-- needs: msgs reacted
-- without_emoji returns a stored reaction as a deletion leaves it, and its JSON before; nil if it is none that has something to lose.
-- An entry that took a reaction back keeps its emoji: clients need it. from is the JSON of the author, nil to leave it.
local function without_emoji(member, target, deleted_at, from)
  local head, id, json = string.match(member or '', '^((%d+) %S+ x )({.*)$')
  local start, author = string.match(json or '', '^({"id":%d+,"group":"[^"]*","from":)("[^"]*"),"kind":"reaction",')
  local sent_at = start and string.match(json, '",("sent_at":"[^"]*")}$')
  if not sent_at then return nil end
  return head .. start .. (from or author) .. ',"kind":"reaction","target":' .. target .. ',' .. sent_at .. ',"deleted_at":"' .. deleted_at .. '"}',
    json, id
end

-- reactions_to returns the stored entries of the reactions to a deleted message that stand, at most 500 of them: all that were
-- recorded, and for a target in the archive those among the first 500 entries that are stored.
local function reactions_to(target, archived)
  local found, from, head = {}, 0, target .. ' '
  if archived then
    local mark = ',"target":' .. target .. ',"emoji":'
    for _, member in ipairs(redis.call('ZRANGE', msgs, 0, 499)) do
      if string.find(member, mark, 1, true) then found[#found + 1] = member end
    end
    return found
  end
  repeat
    local page = redis.call('ZRANGEBYSCORE', reacted, '(' .. target, '+inf', 'WITHSCORES', 'LIMIT', from, 500)
    for i = 1, #page, 2 do
      if string.sub(page[i], 1, #head) == head and #found < 500 then
        found[#found + 1] = redis.call('ZRANGEBYSCORE', msgs, page[i + 1], page[i + 1])[1]
      end
    end
    from = from + 500
  until #page < 1000 or #found == 500 or from == 10000
  return found
end
