-- include: base
-- needs: msgs reacted
-- without_emoji returns a stored reaction as a deletion of its target leaves it, its id, and its JSON before; nil if it has nothing
-- to lose. An entry that took a reaction back keeps its emoji: clients need it.
local function without_emoji(member, target, deleted_at)
  local head, id, json = string.match(member or '', '^((%d+) %S+ x )({.*)$')
  local start = string.match(json or '', '^({"id":%d+,"group":"[^"]*","from":"[^"]*"),"kind":"reaction",')
  local sent_at = start and string.match(json, '",("sent_at":"[^"]*")[^{}%[%]]*}$') -- `via` may follow
  if not sent_at then return nil end
  return head .. start .. ',"kind":"reaction","target":' .. target .. ',' .. sent_at .. ',"deleted_at":"' .. deleted_at .. '"}', id, json
end

-- unreact takes the emoji out of reactions to a deleted message: of those that are recorded from an id on, 200 at most, among 1,000
-- records. It returns the id to go on from, nil at the end. before is called with each entry's id and JSON, and may be nil; the
-- entries as they are then are added to changed.
local function unreact(target, from, deleted_at, before, changed)
  local stands, past = target .. ' ', '=' .. target .. ' '
  local page = redis.call('ZRANGEBYSCORE', reacted, from, '+inf', 'WITHSCORES', 'LIMIT', 0, 1000)
  local found = 0
  for i = 1, #page, 2 do
    if string.sub(page[i], 1, #stands) == stands or string.sub(page[i], 1, #past) == past then
      if found == 200 then return page[i + 1] end
      local left, id, json = without_emoji(redis.call('ZRANGEBYSCORE', msgs, page[i + 1], page[i + 1])[1], target, deleted_at)
      if left then
        if before then before(id, json) end
        redis.call('ZREMRANGEBYSCORE', msgs, id, id)
        redis.call('ZADD', msgs, id, left)
        found, changed[#changed + 1] = found + 1, left
      end
      redis.call('ZREMRANGEBYSCORE', reacted, page[i + 1], page[i + 1])
    end
  end
  return page[2000] and int(tonumber(page[2000]) + 1)
end
