-- include: file_record
-- needs: last_id meta msgs files_named pinned
-- file_first is the lowest id that can be read anywhere: a message below names nothing any longer, unless it is pinned.
local function file_first()
  local last = redis.call('GET', last_id)
  if not last then return 0 end
  local first, archived_from = tonumber(last) - redis.call('ZCARD', msgs) + 1, redis.call('HGET', meta, 'archived_from')
  return archived_from and math.min(first, tonumber(archived_from)) or first
end

-- file_newest returns the newest message that names a file, from an id on or pinned; nil if there is none.
local function file_newest(id, f, first)
  local refs = {}
  for ref in string.gmatch(f.refs, '%d+') do refs[#refs + 1] = ref end
  for i = #refs, 1, -1 do
    if tonumber(refs[i]) < first then
      local entry = redis.call('HGET', pinned, refs[i])
      if entry and string.match(entry, '^%d+ %S+ (%S+)') ~= 'x' then return tonumber(refs[i]) end
    else
      for _, member in ipairs(redis.call('ZRANGEBYSCORE', files_named, refs[i], refs[i])) do
        if string.match(member, '^%d+ (%S+)') == id then return tonumber(refs[i]) end
      end
    end
  end
end
