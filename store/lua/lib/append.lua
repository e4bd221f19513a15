-- Appends entries to the log of a group, or repeats the first answer to an entry whose retry key is known. An entry is plain if it
-- is a text or data that mentions nobody, replies to nothing, is in no thread and names no file, in a group where every member may send at any
-- time: nobody is muted, and nothing slows them down. One that goes by itself after a time is plain where its group says so. Most are, and calls of commands make up most of the time of a send, so a plain one takes few; what others need is included
-- inside its branch. It is not a function: a closure over so many names would cost a tenth of a send. A script that needs the
-- answer includes it in a function.
--
-- An entry is checked as a whole before anything of it is written. One of 64, at random, prunes by, drops the oldest retry keys, and
-- updates senders, as does the first entry of a sender: log/forget.lua checks by itself whether retry keys were added since.
--
-- anyone is true if the sender need not be a member; bytes_added is the size of the files that the entry names. count is how many
-- entries come, and more is what one that is not plain needs, which comes alone, or '': it holds the words kind, reply_to, target,
-- emojis_max, removed, task_id, the epoch and late that stood when the target, or the root of a thread, was read in the archive, the id and mark of the
-- same reaction there, the seconds after which it goes (0: those of the group), the root of the thread, who wrote that as the archive has it, and the emoji; `-` stands for nothing. A reply in a
-- thread is counted there, and nowhere else. With the kind look the entry is checked, and not written; with stream nobody is notified yet; with release slow mode is not
-- looked at.
--
-- Returns {OK, epoch, a sender to forget or '', 1 if there is more to trim}, then for each entry what became of it: its id, with `/<ms>` behind it if it goes then; what
--       its retry key stands for, as lib/retry.lua has it, with the same behind its id, if that is known; {OK, id, mark, the stored entry or ''} if the
--       same reaction is there already; {OK, 0, '', ''} of a look that found nothing; a refusal: NOTFOUND, FORBIDDEN, BLOCKS, MUTED until ms, SLOW ms to wait, KEYREUSED, OUTOFRANGE, ROOT, EMOJIS, ARCHIVED, CONFLICT, or BLOCKED,
--       then user, entries behind and bytes behind of each that the send has to wait for; or '' if it has to come alone,
--       because the memory of the server is full. Refuses NOTFOUND
-- needs: last_id meta members msgs seen read skip senders reactions reacted joined wants files_named mutes slow expires core own
-- needs: channel group keys_max count durable more rows anyone bytes_added
local call = redis.call
local epoch, post, overflow, events, muted, slow_s, expire_s, expiring =
  unpack(call('HMGET', meta, 'epoch', 'post', 'overflow', 'events', 'muted', 'slow_s', 'expire_s', 'expiring'))
if not epoch then return {'NOTFOUND'} end
local writing = more ~= '' and string.sub(more, 1, 7) == 'stream '
local checked = more ~= '' or anyone or post ~= 'members' or overflow == 'block' or muted or slow_s

local answer, n, q = {'OK', epoch, '', 0}, 4, own
local first, number, newest_mark, newest_ms, previous, now_ms, wanted, reaction, in_thread, mentioned, asked, seen_at, slowed, goes
-- What several write goes together, unless each is checked against what was written before.
local several = count > 1 and not checked
if several then
  -- include: append_several
end
for i = rows, rows + (count - 1) * rows_row, rows_row do
  -- bind: rows at i
  -- bind: own at q
  n, q = n + 1, q + own_row
  -- Members, and nobody else, have a cursor.
  if asked ~= from then seen_at, asked = call('ZSCORE', seen, from), from end
  local outcome
  if checked or not seen_at then
    -- include: append_check
    outcome = append_check()
  end
  if outcome then
    answer[n] = outcome
  else
    local kept = 1
    if wanted == nil then
      kept = call('EXISTS', wants, wants, by)
      wanted = kept > 1
      kept = kept % 2
    elseif previous ~= from then
      kept = call('EXISTS', by)
    end
    -- The first write of all. Nothing can fail from here on.
    if not first then
      first = redis.pcall('INCR', last_id)
      if type(first) == 'table' then
        -- include: append_full
        return append_full(first)
      end
      number = first - 1
    end
    local id = string.format('%d', number + 1)
    -- Most keys are new, and HSETNX costs less than a lookup and a write. If the key is known, the next entry gets the id.
    if key ~= '' and call('HSETNX', sent, key, id .. ' ' .. sent_ms .. ' ' .. mark .. ' ' .. content) == 0 then
      -- include: append_known
      answer[n] = append_known(call('HGET', sent, key))
    else
      local goes_ms
      if (expire_s or goes) and not reaction then
        -- include: append_expire
        rest, goes_ms = append_expire(id, rest, sent_ms)
      end
      local entry = id .. ' ' .. mark .. (reaction and ' x {"id":' or ' - {"id":') .. id .. ',' .. rest
      local follows = seen_at and tonumber(seen_at) == number
      if several then
        several.add(id, entry, by, from, follows and number)
      else
        call('ZADD', msgs, id, entry)
        call('ZADD', (reaction or in_thread) and skip or by, id, id)
        if follows then
          call('ZADD', seen, id, from)
          if tonumber(call('ZSCORE', read, from)) == number then call('ZADD', read, id, from) end
        end
      end
      if follows then seen_at = id end
      if slowed then
        -- include: append_slow
        append_slow(from)
      end
      number = number + 1
      newest_mark, newest_ms, previous = mark, sent_ms, from
      local chosen = string.byte(mark) == 65
      if kept == 0 or chosen then
        if not now_ms then
          -- include: base
          now_ms = clock_ms()
        end
        call('ZADD', senders, string.format('%d', now_ms), from)
      end
      if chosen then
        -- include: prune
        -- include: retry
        prune(by, number - tonumber(call('HGET', meta, 'backlog_max')))
        if key ~= '' then cut_keys(keys_max) end
      end
      if reaction then
        -- include: append_reaction
        append_reaction(id)
      elseif in_thread then
        -- include: append_thread
        append_thread(id)
      end
      call(PUBLISH, channel, 'm ' .. epoch .. '\n' .. entry)
      answer[n] = goes_ms and id .. '/' .. goes_ms or id
    end
  end
end
if not first then return answer end

if several then several.write() end
if number ~= first then call('INCRBY', last_id, string.format('%d', number - first)) end
if number < first then return answer end
local id = string.format('%d', number)
if reaction then
  call('HSET', meta, 'mark', newest_mark, 'active_ms', newest_ms, 'changed', id, reaction.archived and 'late' or 'changed', id)
elseif writing then
  call('HSET', meta, 'mark', newest_mark, 'active_ms', newest_ms) -- nobody is notified before it is whole
elseif in_thread then
  call('HSET', meta, 'mark', newest_mark, 'active_ms', newest_ms)
else
  call('HSET', meta, 'mark', newest_mark, 'active_ms', newest_ms, 'newest', id)
end
if goes and goes.first_ms and goes.first_ms < (tonumber(expiring) or math.huge) then
  -- bind: enqueue at core
  -- include: expire_plan
  plan_expire(epoch, now_ms or clock_ms())
end
if mentioned then
  -- include: append_mentions
  append_mentions(id)
end
if wanted then
  -- bind: enqueue at core
  local life = ':' .. group .. ':' .. epoch
  local notify, since, archive = unpack(call('HMGET', wants, 'notify', 'events', 'archive'))
  local waiting = call('HMGET', unique, 'notify' .. life .. (in_thread and ':' .. in_thread.root or ''), 'events' .. life, 'archive' .. life)
  local counted = not since or waiting[2] and string.match(events or '', '^%d+') == string.match(since, '^%d+')
  if notify and not waiting[1] or archive and not waiting[3] or not counted then
    -- include: log_grew
    log_grew(epoch, id, now_ms or clock_ms(), not reaction and not writing and not in_thread, first,
      in_thread and not writing and in_thread.root or nil)
  end
end
if number % 64 <= number - first then
  -- include: prune
  -- include: trim
  local keep, backlog_max = unpack(call('HMGET', meta, 'keep', 'backlog_max'))
  backlog_max = tonumber(backlog_max)
  prune(skip, number - backlog_max)
  answer[4] = trim_log(number, call('ZCARD', msgs), tonumber(keep), backlog_max) and 1 or 0
  answer[3] = call('ZRANGEBYSCORE', senders, '-inf', int((now_ms or clock_ms()) - 86400000), 'LIMIT', 0, 1)[1] or ''
end
return answer
