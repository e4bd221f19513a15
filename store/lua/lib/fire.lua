-- include: schedule
-- needs: version run recurs next_ms missed refused failed
-- The end of a firing, shared by schedule/fire_group.lua and schedule/fire_inbox.lua. Of the needed names:
--
-- version  as the task or the request knows it
-- run      name of a request to send now, or ''
-- recurs   whether there may be more occurrences; next_ms is the next one, or 0
-- missed   occurrences that passed without a message
-- refused  why nothing is sent, or ''
-- failed   payload of the task that notifies the owner, without its last brace

-- The API's codes for the refusals that a send may get.
local fire_codes = {NOTFOUND = 'not_found', FORBIDDEN = 'forbidden', KEYREUSED = 'key_reused', OUTOFRANGE = 'out_of_range',
  ARCHIVED = 'not_found', ROOT = 'out_of_range', FULL = 'inbox_full', BLOCKED = 'backlog_full', MUTED = 'muted', SLOW = 'rate_limited'}

-- Those that may have passed by the next occurrence.
local fire_passing = {missed = true, inbox_full = true, backlog_full = true, muted = true, rate_limited = true}

-- fire_ran returns whether a request to send now was done before. Other requests may have come between it and its
-- repeat, so the newest few are remembered.
local function fire_ran(record) return string.find(' ' .. record.ran .. ' ', ' ' .. run .. ' ', 1, true) ~= nil end

local function fire_remember(record)
  local runs = {run}
  for before in string.gmatch(record.ran, '%S+') do
    if #runs < 16 then runs[#runs + 1] = before end
  end
  return table.concat(runs, ' ')
end

-- fire_sent records that a message was sent, and what comes next; a request does not use up an occurrence.
local function fire_sent(record, sent_id, now_ms)
  local next_version = schedule_next_version(record.version)
  local fields = {'sent', int(record.sent + 1), 'last_id', sent_id, 'last_ms', int(now_ms), 'last_error', ''}
  local function set(name, value) fields[#fields + 1], fields[#fields + 2] = name, value end
  local ends, goes_on = not recurs, false
  if run ~= '' then
    set('ran', fire_remember(record))
    if ends then task_cancel(core, occurrence_task(record.version)) end
  else
    set('fired', int(record.fired + 1))
    set('missed', int(record.missed + missed))
    goes_on = recurs and next_ms > 0
    ends = not goes_on
  end
  if ends then
    set('state', 'done')
    set('version', next_version)
    schedule_over(now_ms)
  elseif goes_on then
    set('version', next_version)
    set('next_ms', int(next_ms))
    enqueue_occurrence(next_version, next_ms, now_ms)
  end
  redis.call('HSET', schedule, unpack(fields))
end

-- fire_refused records why an occurrence sent nothing, and what comes next. The owner gets notified if this ends the
-- schedule, or if the reason differs from the last one.
local function fire_refused(record, code, now_ms)
  local next_version = schedule_next_version(record.version)
  local passing = recurs and fire_passing[code]
  local fields = {'version', next_version, 'last_error', code, 'missed', int(record.missed + missed)}
  local function set(name, value) fields[#fields + 1], fields[#fields + 2] = name, value end
  if code ~= 'missed' then set('fired', int(record.fired + 1)) end
  if passing and next_ms > 0 then
    set('next_ms', int(next_ms))
    enqueue_occurrence(next_version, next_ms, now_ms)
  else
    set('state', passing and 'done' or 'failed')
    schedule_over(now_ms)
  end
  if not passing or code ~= 'missed' and record.last_error ~= code then
    enqueue_failed(record.version, failed, code, now_ms)
  end
  redis.call('HSET', schedule, unpack(fields))
end

-- fire fires an occurrence, or sends now. send does the send: it writes nothing if it refuses, and returns the id of
-- the message as its second value.
local function fire(send)
  local h = redis.call('HMGET', schedule, 'state', 'version', 'next_ms', 'fired', 'sent', 'missed', 'last_error', 'ran')
  local record = {state = h[1], version = h[2], last_error = h[7] or '', ran = h[8] or ''}
  if not record.state then return {'NOTFOUND'} end
  record.fired, record.sent, record.missed = tonumber(h[4]), tonumber(h[5]), tonumber(h[6])
  local now_ms = clock_ms()
  if run ~= '' then
    if fire_ran(record) then return {'OK', 'sent'} end
    if not schedule_waits(record.state) or record.version ~= version then return {'CONFLICT'} end
  else
    if record.state ~= 'pending' or record.version ~= version then return {'OK', 'stale'} end
    if now_ms < tonumber(h[3]) then return {'OK', 'early', int(tonumber(h[3]) - now_ms)} end
    if refused ~= '' then
      fire_refused(record, refused, now_ms)
      return {'OK', 'refused'}
    end
  end

  local answer = send()
  if answer[1] == 'OK' then
    fire_sent(record, answer[2], now_ms)
    return {'OK', 'sent', unpack(answer, 2)}
  end
  -- A send to a user who has never used the server is first counted against the owner, and then runs again.
  -- Of a root in the archive, what was read there has changed: it is read again.
  if run ~= '' or answer[1] == 'STRANGER' or answer[1] == 'CONFLICT' then return answer end
  fire_refused(record, fire_codes[answer[1]] or 'internal', now_ms)
  return {'OK', 'refused'}
end
