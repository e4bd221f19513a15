-- append_expire has an entry go after the seconds of its group, or its own if those are fewer. It returns the rest of its JSON with the
-- time at the end, where readers look for it, and that time in ms.
-- needs: call meta msgs expires expire_s goes
-- include: base
-- include: time_text
local function append_expire(id, rest, sent_ms)
  goes = goes or {}
  local at_ms = tonumber(sent_ms) + 1000 * math.min(tonumber(expire_s) or math.huge, goes.own_s or math.huge)
  call('ZADD', expires, int(at_ms), id)
  goes.first_ms = math.min(goes.first_ms or at_ms, at_ms)
  if tonumber(id) % 64 == 0 then
    -- What was trimmed is gone already, unless the archive or a pin has it.
    local archived_from, has_pins = unpack(call('HMGET', meta, 'archived_from', 'pinned'))
    local lowest = call('ZRANGE', msgs, 0, 0, 'WITHSCORES')[2]
    local gone = {}
    for _, one in ipairs(not archived_from and not has_pins and lowest and call('ZRANGE', expires, 0, 127) or {}) do
      if tonumber(one) < tonumber(lowest) then gone[#gone + 1] = one end
    end
    if #gone > 0 then call('ZREM', expires, unpack(gone)) end
  end
  return string.sub(rest, 1, -2) .. ',"expires_at":"' .. time_text(at_ms) .. '"}', int(at_ms)
end
