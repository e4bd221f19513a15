-- needs: joined
-- before tells the order of members with the same score: by bytes. Lua's own depends on the server's locale.
local function before(a, b)
  for i = 1, #a do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return y ~= nil and x < y end
  end
  return #a < #b
end

-- joined_page reads up to count members after `<id>.<user>`, the last one of the page before, or `<id>`, in the order of
-- joining: users and ids of joining in turn. A notice names up to 100 members, who share its id.
local function joined_page(after, count)
  local id, user = string.match(after, '^(%d+)%.?(.*)$')
  if user == '' then return redis.call('ZRANGEBYSCORE', joined, '(' .. id, '+inf', 'WITHSCORES', 'LIMIT', 0, count) end
  local some = redis.call('ZRANGEBYSCORE', joined, id, '+inf', 'WITHSCORES', 'LIMIT', 0, count + 100)
  local page = {}
  for i = 1, #some, 2 do
    if #page == 2 * count then break end
    if some[i + 1] ~= id or before(user, some[i]) then page[#page + 1], page[#page + 2] = some[i], some[i + 1] end
  end
  return page
end
