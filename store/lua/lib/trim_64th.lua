-- Trims and prunes with each 64th entry, of any kind: otherwise a group whose members are all offline would grow
-- forever. Binds more: whether there is more to trim.
-- needs: skip msgs last keep backlog_max
local more = false
if last % 64 == 0 then
  -- include: prune
  -- include: trim
  prune(skip, last - backlog_max)
  more = trim_log(last, redis.call('ZCARD', msgs), keep, backlog_max)
end
