-- include: base
-- needs: meta pins pinned
-- pin_of reads what `pins` has of a pin; number is the id of the notice of it.
local function pin_of(text)
  local number, at_ms, sent_ms, by, author = string.match(text, '^(%d+) (%d+) (%d+) (%S*) (%S*)$')
  return {number = tonumber(number), at_ms = at_ms, sent_ms = tonumber(sent_ms), by = by, author = author}
end

-- pin_text is the inverse of pin_of.
local function pin_text(p)
  return int(p.number) .. ' ' .. p.at_ms .. ' ' .. int(p.sent_ms) .. ' ' .. p.by .. ' ' .. p.author
end

-- change_pin keeps how a message reads now, if it is pinned. has_pins is the field pinned of the group: without it nothing is.
local function change_pin(has_pins, target, entry)
  if has_pins and redis.call('HEXISTS', pins, target) == 1 then redis.call('HSET', pinned, target, entry) end
end

-- erase_pin keeps how it reads without its author.
local function erase_pin(has_pins, target, entry)
  local text = has_pins and redis.call('HGET', pins, target)
  if not text then return end
  local p = pin_of(text)
  p.author = ''
  redis.call('HSET', pins, target, pin_text(p))
  redis.call('HSET', pinned, target, entry)
end

-- drop_pin unpins a message.
local function drop_pin(target)
  redis.call('HDEL', pins, target)
  redis.call('HDEL', pinned, target)
  if redis.call('EXISTS', pins) == 0 then redis.call('HDEL', meta, 'pinned') end
end
