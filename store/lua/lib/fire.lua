-- include: schedule.lua
-- The end of a firing, which schedule/fire_group.lua and schedule/fire_inbox.lua share.

-- What API.md calls the refusals that a send may meet.
local fire_codes = {NOTFOUND = 'not_found', FORBIDDEN = 'forbidden', KEYREUSED = 'key_reused', OUTOFRANGE = 'out_of_range',
  FULL = 'inbox_full'}

-- fire_args binds the arguments that both begin with.
local function fire_args()
  return {
    key = KEYS[1], wk = 2, id = ARGV[1], version = ARGV[2], run = ARGV[3], recurs = ARGV[4] == '1',
    next_ms = tonumber(ARGV[5]), missed = tonumber(ARGV[6]), refused = ARGV[7], failed = ARGV[8],
  }
end

-- fire_ran tells whether a request to send now was done before. Those of others may have come between it and its repeat, so
-- the newest few are remembered.
local function fire_ran(r, run) return string.find(' ' .. r.ran .. ' ', ' ' .. run .. ' ', 1, true) ~= nil end

local function fire_remember(r, run)
  local runs = {run}
  for before in string.gmatch(r.ran, '%S+') do
    if #runs < 16 then runs[#runs + 1] = before end
  end
  return table.concat(runs, ' ')
end

-- fire_sent writes that a message went out, and what comes next; f.run: without an occurrence being over.
local function fire_sent(f, r, sent_id, now_ms)
  local version = schedule_next_version(r.version)
  local fields = {'sent', int(r.sent + 1), 'last_id', sent_id, 'last_ms', int(now_ms), 'last_error', ''}
  local function set(name, value) fields[#fields + 1], fields[#fields + 2] = name, value end
  local ends, goes_on = not f.recurs, false
  if f.run ~= '' then
    set('ran', fire_remember(r, f.run))
    if ends then task_cancel(f.wk, f.id .. '.' .. r.version) end
  else
    set('fired', int(r.fired + 1))
    set('missed', int(r.missed + f.missed))
    goes_on = f.recurs and f.next_ms > 0
    ends = not goes_on
  end
  if ends then
    set('state', 'done')
    set('version', version)
    schedule_over(f.wk, f.id, now_ms)
  elseif goes_on then
    set('version', version)
    set('next_ms', int(f.next_ms))
    schedule_at(f.wk, f.id, version, f.next_ms, now_ms)
  end
  redis.call('HSET', f.key, unpack(fields))
end

-- fire_refused writes why an occurrence sent nothing, and what comes next. The owner is told when it is over with the
-- schedule, and when the reason is another than the last time.
local function fire_refused(f, r, code, now_ms)
  local version = schedule_next_version(r.version)
  local passing = f.recurs and (code == 'missed' or code == 'inbox_full')
  local fields = {'version', version, 'last_error', code, 'missed', int(r.missed + f.missed)}
  local function set(name, value) fields[#fields + 1], fields[#fields + 2] = name, value end
  if code ~= 'missed' then set('fired', int(r.fired + 1)) end
  if passing and f.next_ms > 0 then
    set('next_ms', int(f.next_ms))
    schedule_at(f.wk, f.id, version, f.next_ms, now_ms)
  else
    set('state', passing and 'done' or 'failed')
    schedule_over(f.wk, f.id, now_ms)
  end
  if not passing or code ~= 'missed' and r.last_error ~= code then
    task_enqueue(f.wk, f.id .. '.' .. r.version .. '.failed', 'schedule_failed', f.failed .. ',"code":"' .. code .. '"}',
      'normal', 0, now_ms, '')
  end
  redis.call('HSET', f.key, unpack(fields))
end

-- fire fires an occurrence, or sends now. send does the send: it writes nothing where it refuses, and answers with the id
-- of what it sent in its second place.
local function fire(f, send)
  local h = redis.call('HMGET', f.key, 'state', 'version', 'next_ms', 'fired', 'sent', 'missed', 'last_error', 'ran')
  local r = {state = h[1], version = h[2], last_error = h[7] or '', ran = h[8] or ''}
  if not r.state then return {'NOTFOUND'} end
  r.fired, r.sent, r.missed = tonumber(h[4]), tonumber(h[5]), tonumber(h[6])
  local now_ms = clock_ms()
  if f.run ~= '' then
    if fire_ran(r, f.run) then return {'OK', 'sent'} end
    if not schedule_waits(r.state) or r.version ~= f.version then return {'CONFLICT'} end
  else
    if r.state ~= 'pending' or r.version ~= f.version then return {'OK', 'stale'} end
    if now_ms < tonumber(h[3]) then return {'OK', 'early', int(tonumber(h[3]) - now_ms)} end
    if f.refused ~= '' then
      fire_refused(f, r, f.refused, now_ms)
      return {'OK', 'refused'}
    end
  end

  local answer = send()
  if answer[1] == 'OK' then
    fire_sent(f, r, answer[2], now_ms)
    return {'OK', 'sent', unpack(answer, 2)}
  end
  if f.run ~= '' then return answer end
  fire_refused(f, r, fire_codes[answer[1]] or 'internal', now_ms)
  return {'OK', 'refused'}
end
