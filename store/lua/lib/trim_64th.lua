-- Trims and prunes with each 64th entry, of whatever kind: without this a group whose members all sleep would grow for ever.
-- Binds more: whether there is more to trim.
-- needs: skip msgs last keep backlog_max
local more = false
if last % 64 == 0 then
  -- include: prune
  -- include: trim
  prune(skip, last - backlog_max)
  more = trim_log(last, redis.call('ZCARD', msgs), keep, backlog_max)
end
