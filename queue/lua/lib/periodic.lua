-- needs: periodic
-- A field <id> of periodic is the declaration of a periodic task, "<priority> <attempts_max>
-- <kind> <unique>[\r<option> <value>]...\n<plan>\n<payload>", and changes only when another
-- one is put. The field "<id> at" is "<paused> <last_ms> <next_ms> <fired>".

-- periodic_read returns a declaration and its state; no declaration, no values.
local function periodic_read(name)
  local found = redis.call('HMGET', periodic, name, name .. ' at')
  if not found[1] then return nil end
  local paused, last_ms, next_ms, fired = string.match(found[2] or '', '^(%d) (%d+) (%d+) (%d+)$')
  return found[1], {paused = paused == '1', last_ms = tonumber(last_ms or 0), next_ms = tonumber(next_ms or 0),
    fired = tonumber(fired or 0)}
end

local function periodic_note(name, state)
  redis.call('HSET', periodic, name .. ' at', string.format('%d %.0f %.0f %.0f', state.paused and 1 or 0, state.last_ms,
    state.next_ms, state.fired))
end

-- periodic_task appends the task that fires at next_ms to a batch for task_enqueue_all.
local function periodic_task(batch, id, declared, next_ms)
  local kind, plan = string.match(declared, '^%S+ %S+ (%S+) [^\n]*\n([^\n]*)\n')
  for _, value in ipairs({id, '@periodic:' .. kind, plan, 'critical', next_ms, 0, '', 0, 0, ''}) do
    batch[#batch + 1] = value
  end
end
