-- include: count_floor
-- unread counts the messages above floor that are neither the user's own (by is their key) nor in skip, with two
-- lookups: ids are dense, so the messages themselves need not be counted.
local function unread(last, floor, skip, by)
  local above = '(' .. int(floor)
  return last - floor - redis.call('ZCOUNT', skip, above, '+inf') - redis.call('ZCOUNT', by, above, '+inf')
end
