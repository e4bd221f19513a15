-- Of enqueue.lua: what the options and the unique key of a task decide before it is enqueued.
-- include: limit
-- include: unique
-- needs: slots unique expiring

-- option_admit returns whether a task is enqueued; if not, what stands for it in the reply.
local function option_admit(id, key, more)
  -- A task that is refused where its limit is busy has its slot from here until it ends.
  local limit = more ~= '' and limit_of(more)
  if limit and limit.busy ~= 'fail' then limit = nil end
  local view = limit and limit_view(slots, limit.key)
  if view and not limit_open(view, limit) then return false, 2 end
  if key ~= '' then
    local span_ms = more ~= '' and unique_span(more)
    if span_ms then unique_trim(unique, expiring, now_ms) end
    local free, holder
    if holders then
      free, holder = unique_take(unique, expiring, key, id, now_ms)
    else
      free = redis.call('HSETNX', unique, key, id) == 1
    end
    if not free then return false, holder or 0 end
    if span_ms then unique_keep(unique, expiring, key, id, from_ms + span_ms) end
  end
  if limit then limit_take(slots, limit.key, view, id) end
  return true
end
