-- append_check checks an entry that is not plain, or whose sender is not a member. It returns the outcome, or nil if the entry has
-- to be written, with reaction, in_thread, mentioned, slowed and goes as set here.
-- needs: call from key content sent_ms durable sent seen_at epoch post overflow more anyone bytes_added meta members msgs seen
-- needs: last_id joined files_named senders reactions reacted reaction in_thread mentioned rows count own muted mutes slow slow_s slowed expires expiring goes
-- include: base
-- include: not_member
-- include: blockers
-- include: append_known
-- include: muted
-- include: mention_all

-- append_same answers with a reaction that exists already.
local function append_same(id, same_mark, entry)
  if key ~= '' then
    call('HSET', sent, key, id .. ' ' .. sent_ms .. ' ' .. same_mark .. ' ' .. content)
    call('ZADD', senders, int(clock_ms()), from)
  end
  -- Nothing changes, but WAIT and WAITAOF need a write on this connection; a ZADD with the same score is not one.
  if durable then call('HSET', meta, 'epoch', epoch) end
  return {'OK', id, same_mark, entry}
end

local function append_check()
  local visibility, history, backlog_max, backlog_bytes = unpack(call('HMGET', meta, 'visibility', 'history', 'backlog_max', 'backlog_bytes'))
  if not seen_at and not anyone then return not_member(visibility) end
  if key ~= '' then
    local known = call('HGET', sent, key)
    if known then
      -- WAIT and WAITAOF need a write on this connection.
      if durable then call('HSET', sent, key, known) end
      return append_known(known)
    end
  end
  slowed = nil
  if not anyone then
    if post == 'none' then return {'FORBIDDEN', 'nobody'} end
    local ordinary = (slow_s or post == 'admins') and string.sub(call('HGET', members, from), 1, 6) == 'member'
    if ordinary and post == 'admins' then return {'FORBIDDEN', 'posters'} end
    local refused = refuse_muted(muted, from)
    if refused then return refused end
    local does = string.match(more, '^%S*')
    if ordinary and slow_s and does ~= 'reaction' and does ~= 'release' then
      slowed = clock_ms()
      local wait_ms = tonumber(call('ZSCORE', slow, from) or 0) + tonumber(slow_s) * 1000 - slowed
      if wait_ms > 0 then return {'SLOW', int(wait_ms)} end
    end
  end
  if overflow == 'block' and not anyone then
    local refused = refuse_blocked(from, tonumber(backlog_max), tonumber(backlog_bytes), bytes_added)
    if refused then return refused end
  end
  if more == '' then return nil end

  local words, emoji = string.match(more, '^(%S+ %S+ %S+ %S+ %S+ %S+ %S+ %S+ %S+ %S+ %S+ %S+ %S+) (.*)$')
  local kind, reply_to, target, emojis_max, removed, task_id, below_epoch, below_late, same_id, same_mark, own_s, root, root_from =
    string.match(words, '(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+)')
  if reply_to ~= '0' then
    local low, high = 1, tonumber(call('GET', last_id))
    if history == '0' and seen_at then low = tonumber(call('ZSCORE', joined, from)) end
    if tonumber(reply_to) < low or tonumber(reply_to) > high then return {'OUTOFRANGE', 'reply_to', int(low), int(high)} end
  end
  if root ~= '0' then
    local mentions_at = own + count * own_row + #ARGV - rows - count * rows_row + 1
    -- include: append_thread_check
    local refused = append_thread_check()
    if refused then return refused end
  end
  -- The mentioned users that are members.
  if task_id ~= '-' then
    local mentions, at = rows + count * rows_row, own + count * own_row
    local roles = call('HMGET', members, unpack(ARGV, mentions))
    mentioned = {from = from, task_id = task_id, users = {}, keys = {}}
    for i = 1, #roles do
      local user, is_member = ARGV[mentions + i - 1], roles[i]
      if user == '@all' then
        local refused = refuse_all(roles[#roles], anyone)
        if refused then return refused end
        -- It says whom all it mentions: nobody is counted twice. The last one is its sender, in whose own key it does not count for them.
        mentioned.users, mentioned.keys, mentioned.all = {user}, {KEYS[at + i - 1]}, true
        mentioned.own = roles[#roles] and KEYS[at + #roles - 1]
        break
      elseif is_member and user ~= from then
        mentioned.users[#mentioned.users + 1], mentioned.keys[#mentioned.keys + 1] = user, KEYS[at + i - 1]
      end
    end
  end
  if own_s ~= '0' then goes = {own_s = tonumber(own_s)} end
  if kind == 'look' then return {'OK', '0', '', ''} end
  if kind ~= 'reaction' then return nil end

  -- Whether the same reaction exists already, and how many have it.
  removed = removed == '1'
  local stored = call('ZRANGEBYSCORE', msgs, target, target)[1]
  local since = history == '0' and tonumber(call('ZSCORE', joined, from)) or 0
  if not stored then
    local archived_from, late = unpack(call('HMGET', meta, 'archived_from', 'late'))
    local low = math.max(since, tonumber(archived_from or 0))
    if not archived_from or tonumber(target) < low or tonumber(target) > tonumber(call('GET', last_id)) then return {'NOTFOUND'} end
    if below_epoch == '-' then return {'ARCHIVED'} end
    if below_epoch ~= epoch or below_late ~= (late or '0') then return {'CONFLICT'} end
    reaction = {archived = true, target = target, removed = removed}
    return same_id ~= '-' and append_same(same_id, same_mark, '') or nil
  end
  if string.match(stored, '^%d+ %S+ (%S+)') == 'x' or tonumber(target) < since then return {'NOTFOUND'} end
  local one = target .. ' ' .. from .. ' ' .. emoji
  local here, gone = call('ZSCORE', reacted, one), call('ZSCORE', reacted, '-' .. one)
  local same = removed and gone or not removed and here
  if same then
    -- The entry is stored as long as its record is: they are trimmed together.
    local entry = call('ZRANGEBYSCORE', msgs, same, same)[1]
    return append_same(int(tonumber(same)), string.match(entry, '^%d+ (%S+)'), entry)
  end
  if removed and not here then return {'NOTFOUND'} end
  local counts = call('ZRANGEBYSCORE', reactions, target, target)
  reaction = {target = target, emoji = emoji, taken_back = here and int(tonumber(here)), count = 0,
    record = removed and '-' .. one or one, opposite = removed and one or '-' .. one}
  for _, c in ipairs(counts) do
    local e, times = string.match(c, '^%d+ (.*) (%d+)$')
    if e == emoji then reaction.counted, reaction.count = c, tonumber(times) end
  end
  if not reaction.counted and #counts >= tonumber(emojis_max) then return {'EMOJIS'} end
  reaction.count = removed and reaction.count - 1 or reaction.count + 1
  return nil
end
