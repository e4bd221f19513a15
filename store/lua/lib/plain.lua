-- Appends plain messages of members to a log, each as lib/append.lua would with the same cursors, counts, retry keys and tasks. A
-- message is plain if it is a text or data that mentions nobody, replies to nothing and names no file. Calls of commands make
-- up most of the time of a send, so there are few, and code that is rarely needed is included inside its branch.
--
-- It leaves to lib/append.lua messages of users who are not members, and all messages of a group whose settings ask for more
-- checks. One message of 64, at random, prunes by, drops the oldest retry keys, and updates senders, as does the first message of
-- a sender: log/forget.lua checks by itself whether retry keys were added since.
--
-- Returns {OK, epoch, a sender to forget or '', 1 if there is more to trim}, then for each message its id; or the value of its retry
--       key, if that is known; or '' if lib/append.lua has to decide. {OK, ''} leaves all of them to it. Refuses WANTS
-- needs: last_id meta msgs seen read skip senders reactions reacted wants core channel group keys_max plain own
local call = redis.call
local epoch, post, overflow, events = unpack(call('HMGET', meta, 'epoch', 'post', 'overflow', 'events'))
if not epoch or post == 'admins' or overflow == 'block' then return {'OK', ''} end

local answer, n, q = {'OK', epoch, '', 0}, 4, own
local first, number, newest_mark, newest_ms, previous, now_ms
for i = plain, #ARGV, plain_row do
  -- bind: plain at i
  -- bind: own at q
  n, q = n + 1, q + own_row
  local kept = 1
  if i == plain and not core then
    kept = call('EXISTS', wants, wants, by)
    if kept > 1 then return {'WANTS'} end
  elseif previous ~= from then
    kept = call('EXISTS', by)
  end
  -- Members, and nobody else, have a cursor.
  local at = call('ZSCORE', seen, from)
  if not at then
    answer[n] = ''
  else
    -- The first write of all. Nothing can fail from here on.
    if not first then
      first = call('INCR', last_id)
      number = first - 1
    end
    local id = string.format('%d', number + 1)
    -- Most keys are new, and HSETNX costs less than a lookup and a write. If the key is known, the next message gets the id.
    if key ~= '' and call('HSETNX', sent, key, id .. ' ' .. sent_ms .. ' ' .. mark .. ' ' .. content) == 0 then
      answer[n] = call('HGET', sent, key)
    else
      local entry = id .. ' ' .. mark .. ' - {"id":' .. id .. ',' .. rest
      call('ZADD', msgs, id, entry)
      call('ZADD', by, id, id)
      if tonumber(at) == number then
        call('ZADD', seen, id, from)
        if tonumber(call('ZSCORE', read, from)) == number then call('ZADD', read, id, from) end
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
      call('PUBLISH', channel, 'm ' .. epoch .. '\n' .. entry)
      answer[n] = id
    end
  end
end
if not first then return answer end

if number ~= first then call('INCRBY', last_id, string.format('%d', number - first)) end
if number < first then return answer end
local id = string.format('%d', number)
call('HSET', meta, 'mark', newest_mark, 'active_ms', newest_ms, 'newest', id)
if core then
  local notify, since, archive = unpack(call('HMGET', wants, 'notify', 'events', 'archive'))
  if notify or since or archive then
    -- bind: enqueue at core
    local life = ':' .. group .. ':' .. epoch
    local waiting = call('HMGET', unique, 'notify' .. life, 'events' .. life, 'archive' .. life)
    local counted = not since or waiting[2] and string.match(events or '', '^%d+') == string.match(since, '^%d+')
    if notify and not waiting[1] or archive and not waiting[3] or not counted then
      -- include: log_grew
      log_grew(epoch, id, now_ms or clock_ms(), true, first)
    end
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
