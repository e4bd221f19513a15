-- Removes what is kept of a user outside groups: the account, the profile with its avatar, devices, inbox, and the answers to retry keys. The keys that senders have in the
-- inbox go a few at a time.
--
-- KEYS  devices reachable profile names avatar avatars inbox inbox_base inbox_senders inbox_server keys keys_at strangers firings added account blocks drafts hidden left(inbox_by inbox_mentions inbox_sent)...
-- ARGV  user senders...
--   left  of each sender
-- Returns {OK, 1 if there is more}
-- include: profile_words
-- include: avatar
drop_words(user)
drop_avatar('')
local position = left
for i = senders, #ARGV do
  -- bind: left at position
  redis.call('UNLINK', inbox_by, inbox_mentions, inbox_sent)
  redis.call('ZREM', inbox_senders, ARGV[i])
  position = position + left_row
end
redis.call('UNLINK', profile, devices, inbox, inbox_base, inbox_server, keys, keys_at, strangers, firings, added, account, blocks, drafts)
redis.call('SREM', reachable, user)
redis.call('SREM', hidden, user)
return {'OK', redis.call('EXISTS', inbox_senders)}
