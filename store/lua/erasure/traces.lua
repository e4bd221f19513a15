-- Removes what a group keeps about a user besides its log. A user who is a member again keeps what counts their unread messages.
--
-- KEYS  meta members senders sent by at levels notified slow bans requests asked invites invited pins pinned threads replies streams streamed pressed quorums
-- ARGV  user
-- Returns {OK}
-- include: invitation
-- include: asked
-- include: pins
-- include: threads_change
-- include: stream
redis.call('UNLINK', sent, pressed)
-- A ban stays, without why somebody was banned, and without whom they have banned.
local bans_of = redis.call('HEXISTS', meta, 'banned') == 1 and redis.call('HGETALL', bans) or {}
for n = 1, #bans_of, 2 do
  local times, banner, why = string.match(bans_of[n + 1], '^(%d+ %d+) (%S*) (.*)$')
  if bans_of[n] == user then why = '' end
  if banner == user then banner = '' end
  local kept = times .. ' ' .. banner .. ' ' .. why
  if kept ~= bans_of[n + 1] then redis.call('HSET', bans, bans_of[n], kept) end
end
-- A pin stays, too, without who pinned it.
local pins_of = redis.call('HEXISTS', meta, 'pinned') == 1 and redis.call('HGETALL', pins) or {}
for n = 1, #pins_of, 2 do
  local p = pin_of(pins_of[n + 1])
  if p.by == user then
    p.by = ''
    redis.call('HSET', pins, pins_of[n], pin_text(p))
  end
end
-- What is being written, and the log has trimmed, goes.
local has_streams, hold = unpack(redis.call('HMGET', meta, 'streams', 'hold'))
for _, id in ipairs(has_streams and not hold and redis.call('HKEYS', streams) or {}) do
  if stream_of(id).author == user then stream_drop(has_streams, id) end
end
-- Quorums stay without whom they name: who asked, who had to read, and who would hear of it.
local asked_of = redis.call('HGETALL', quorums)
for n = 1, #asked_of, 2 do
  local words = {}
  for word in string.gmatch(asked_of[n + 1], '%S+') do words[#words + 1] = word end
  for _, i in ipairs({4, 5, 6, 10}) do
    local left = {}
    for name in string.gmatch(words[i], '[^,]+') do
      if name ~= user then left[#left + 1] = name end
    end
    words[i] = #left > 0 and table.concat(left, ',') or '-'
  end
  local kept = table.concat(words, ' ')
  if kept ~= asked_of[n + 1] then redis.call('HSET', quorums, asked_of[n], kept) end
end
if redis.call('HEXISTS', members, user) == 1 then return {'OK'} end
redis.call('UNLINK', by, at)
leave_threads(user)
redis.call('ZREM', senders, user)
redis.call('HDEL', levels, user)
redis.call('ZREM', notified, user)
redis.call('ZREM', slow, user)
drop_request(redis.call('HGET', meta, 'asked'), user)
local all = redis.call('HGETALL', invites)
for n = 1, #all, 2 do
  if invitation_of(all[n + 1]).by == user then
    redis.call('HDEL', invites, all[n])
    redis.call('HDEL', invited, all[n])
  end
end
return {'OK'}
