-- Reads how the records of files stand in the lists of their group. Only reads.
--
-- KEYS  last_id meta msgs files files_unused files_named files_of
-- ARGV  ids...
-- Returns {OK, then of each file that exists its id, the group in files_of ('' if it is not listed), when it expires if it is
--       among those without a message ('' if it is not), how many messages name it by both sides, how many of these can be read,
--       how many ms ago it should have been removed, the messages that its record lists}
-- include: base
local last, archived_from = tonumber(redis.call('GET', last_id) or 0), redis.call('HGET', meta, 'archived_from')
local first, now = last - redis.call('ZCARD', msgs) + 1, redis.call('TIME')
if archived_from then first = math.min(first, tonumber(archived_from)) end
local now_ms, out = tonumber(now[1]) * 1000 + math.floor(tonumber(now[2]) / 1000), {'OK'}
for i = ids, #ARGV do
  local id = ARGV[i]
  local refs = string.match(redis.call('HGET', files, id) or '', '^%S+ %S+ %d+ %d+ %d+ %d+ %S+ %d+ %S+ (%S+)')
  if refs then
    local named_by, alive = 0, 0
    for ref in string.gmatch(refs, '%d+') do
      for _, member in ipairs(redis.call('ZRANGEBYSCORE', files_named, ref, ref)) do
        if string.match(member, '^%d+ (%S+)') == id then
          named_by = named_by + 1
          if tonumber(ref) >= first then alive = alive + 1 end
        end
      end
    end
    local expires_ms = redis.call('ZSCORE', files_unused, id)
    local n = #out
    out[n + 1], out[n + 2], out[n + 3] = id, redis.call('HGET', files_of, id) or '', expires_ms or ''
    out[n + 4], out[n + 5], out[n + 6] = int(named_by), int(alive), int(expires_ms and now_ms - tonumber(expires_ms) or 0)
    out[n + 7] = refs
  end
end
return out
