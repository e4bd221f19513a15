-- Reads logs as one user sees them, each with a page of its entries: in turns and up to a number of bytes, so that no
-- answer grows with what is stored. Only reads.
--
-- KEYS  last_ids... groups(meta members joined seen read msgs skip by)... counted(reactions reacted)...
-- ARGV  user bytes_max:int pages(offset from before count)...
--   by         of the user
--   counted    of each group whose reactions are asked for: of all, or of none
--   bytes_max  of all entries together; the page that exceeds it is the last
--   offset     how many entries to skip first
--   from       the lowest id, or
--   before     > 0: downward, from before this id
--   count      maximum; 0: none
-- Returns {OK, the group as the user sees it, its entries, ... for each}. A group is {epoch ('' if there is none),
--       visibility} or, for a member, {epoch, history, backlog_max, mark, floor, archived_from, trimmed ('<id> <mark>'
--       of the newest trimmed entry), last, messages stored, '<role> <joined_at ms>', seen, read, unread, number of
--       members, joined (nil if history is not hidden), archived, late, changed (all nil without an archive), and, if
--       reactions are asked for, a list of '<target> <emoji> <count>', the user's own reaction or nil, ... of the page; nil
--       if they are more than one step reads, and 1 in a group with threads}
-- include: unread
local call = redis.call
local n = (#ARGV - pages + 1) / pages_row
local lasts = call('MGET', unpack(KEYS, last_ids, last_ids + n - 1))
local out, bytes, entries, open = {'OK'}, 0, 0, {}

-- A turn is how many entries of a log are read before those of the next: as many as leave room for all logs that follow
-- if their entries are twice as large as those so far, but at most twice the turn before, because they may be larger.
local turn = 2
local function take_turn(log, msgs, command, at, far, offset, left, logs_left)
  local room = math.floor((bytes_max - bytes) / logs_left / (2 * bytes / math.max(entries, 1) + 1))
  turn = math.max(1, math.min(32, 2 * turn, room))
  local asked = math.min(left, turn)
  local page, got = call(command, msgs, at, far, 'LIMIT', offset, asked), out[2 * log + 1]
  for i = 1, #page do bytes = bytes + #page[i] end
  entries = entries + #page
  for i = 1, got and #page or 0 do got[#got + 1] = page[i] end
  out[2 * log + 1] = got or page
  if #page == asked and asked < left then
    open[#open + 1] = {log, msgs, command, '(' .. string.match(page[asked], '^%d+'), far, '0', left - asked}
  end
end

local counts_left, first_counted = 500, last_ids + n + n * groups_row
for log = 1, n do
  local row, position = last_ids + n + (log - 1) * groups_row, pages + (log - 1) * pages_row
  -- bind: groups at row
  -- bind: pages at position
  local info = call('HMGET', meta, 'epoch', 'history', 'backlog_max', 'mark', 'floor', 'archived_from', 'trimmed', 'threads')
  local member = info[1] and call('HGET', members, user)
  if member then
    local has_threads = info[8]
    local last, stored, archived_from, at = tonumber(lasts[log]), call('ZCARD', msgs), info[6], call('ZSCORE', read, user)
    local joined_id = info[2] == '0' and call('ZSCORE', joined, user)
    local floor = count_floor(last, stored, archived_from, tonumber(at), tonumber(info[3]), info[5], joined_id)
    info[8], info[9], info[10], info[11], info[12] = lasts[log], stored, member, call('ZSCORE', seen, user), at
    info[13] = floor < last and unread(last, floor, skip, by) or 0
    info[14], info[15] = call('HLEN', members), joined_id
    if archived_from then
      info[16] = call('ZSCORE', seen, '$archive')
      local changed = call('HMGET', meta, 'late', 'changed')
      info[17], info[18] = changed[1], changed[2]
    end
    if KEYS[first_counted] then
      -- Ids are dense, so what the page holds is known before it is read.
      local pair, low, high = first_counted + (log - 1) * counted_row, last - stored + 1, last
      -- bind: counted at pair
      if before == '0' then
        low = math.max(low, tonumber(from))
        high = math.min(high, low + offset + count - 1)
      else
        high = math.min(high, tonumber(before) - 1)
        low = math.max(low, high - offset - count + 1)
      end
      local counts = call('ZRANGEBYSCORE', reactions, int(low), int(high), 'LIMIT', '0', counts_left + 1)
      local list = #counts <= counts_left and {}
      counts_left = list and counts_left - #counts or counts_left
      for i = 1, list and #counts or 0 do
        local target, emoji = string.match(counts[i], '^(%d+) (.*) %d+$')
        list[2 * i - 1], list[2 * i] = counts[i], call('ZSCORE', reacted, target .. ' ' .. user .. ' ' .. emoji)
      end
      info[16], info[17], info[18], info[19] = info[16] or false, info[17] or false, info[18] or false, list
    end
    if has_threads then
      for i = 14, 19 do info[i] = info[i] or false end
      info[20] = 1
    end
    out[2 * log] = info
    if count ~= '0' and bytes < bytes_max then
      if before == '0' then
        take_turn(log, msgs, 'ZRANGEBYSCORE', from, '+inf', offset, tonumber(count), n - log + 1)
      else
        take_turn(log, msgs, 'ZREVRANGEBYSCORE', '(' .. before, '-inf', offset, tonumber(count), n - log + 1)
      end
    end
  else
    out[2 * log] = {info[1] or '', info[1] and call('HGET', meta, 'visibility') or ''}
  end
  out[2 * log + 1] = out[2 * log + 1] or {}
end
while #open > 0 and bytes < bytes_max do
  local again = open
  open = {}
  for i = 1, #again do
    if bytes >= bytes_max then break end
    local log, msgs, command, at, far, offset, left = unpack(again[i])
    take_turn(log, msgs, command, at, far, offset, left, #again - i + 1)
  end
end
return out
