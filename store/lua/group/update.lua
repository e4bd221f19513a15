-- Changes name, settings and data, for an owner, an admin or an operator, and appends the notices.
--
-- KEYS  last_id meta members seen read msgs skip reactions reacted public core:enqueue wants retention named slow audit
-- ARGV  caller operator:flag was_epoch was_version channel task_id retain_id group at_ms audit_id audited audits_max:int count:int notices(mark rest)... changes(field value)...
--   was_epoch, was_version  what the change was decided by; '': by nothing
--   audit_id, audited       what the audit gets of it
--   retain_id  of a task that removes what is too old
--   count  how many notices there are
--   changes  with a name comes folded, the same folded; slow_s and expire_s are '' for none
-- Returns {OK, 1 changed or 0 nothing to change}
-- Refuses NOTFOUND, FORBIDDEN, CONFLICT
-- include: manage
-- include: audit
-- include: version
-- include: notice
-- include: log_grew
-- include: public
-- include: named
-- include: prune
-- include: trim
-- include: task_trim
-- include: retention
-- include: task_retain
local epoch, visibility, name, keep, backlog_max, pruned, version, folded =
  unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'name', 'keep', 'backlog_max', 'floor', 'version', 'folded'))
if not epoch then return {'NOTFOUND'} end
local refused = may_manage(visibility, caller, operator)
refused = refused or other_version(epoch, version, was_epoch, was_version)
if refused then return refused end
local fields, new = {}, {visibility = visibility, name = name, keep = keep, backlog_max = backlog_max}
local changes = notices + count * notices_row
for i = changes, #ARGV, changes_row do
  -- bind: changes at i
  if (redis.call('HGET', meta, field) or '') ~= value then
    fields[#fields + 1] = field
    fields[#fields + 1] = value
    new[field] = value
  end
end
if #fields == 0 then return {'OK', 0} end
local before, now_ms = tonumber(redis.call('GET', last_id)), clock_ms()
local last = before + count
fields[#fields + 1] = 'version'
fields[#fields + 1] = next_version(version, now_ms)

redis.call('HSET', meta, unpack(fields))
note_audit(epoch, audit_id, audited)
if tonumber(new.backlog_max) > tonumber(backlog_max) then
  -- The counted sets were pruned to the smaller number: counting does not start below that.
  redis.call('HSET', meta, 'floor', int(math.max(before - tonumber(backlog_max), tonumber(pruned or 0))))
end
if visibility == 'public' then redis.call('ZREM', public, public_member(name, group)) end
if new.visibility == 'public' then redis.call('ZADD', public, 0, public_member(new.name, group)) end
if new.folded then
  unlist_name(folded)
  list_group(new.folded)
end
for i = notices, changes - 1, notices_row do
  -- bind: notices at i
  advance(caller, notice(epoch, mark, rest, at_ms))
end
if count > 0 then log_grew(epoch, int(last), now_ms, false, before + 1) end
prune(skip, last - tonumber(new.backlog_max))
if new.slow_s == '' then
  redis.call('HDEL', meta, 'slow_s')
  redis.call('UNLINK', slow)
end
if new.expire_s == '' then redis.call('HDEL', meta, 'expire_s') end
if new.retain_days and days_of_group() > 0 then enqueue_retain(retain_id, epoch, days_of_group(), 0, now_ms) end
if trim_log(last, redis.call('ZCARD', msgs), tonumber(new.keep), tonumber(new.backlog_max)) then
  enqueue_trim(task_id, epoch, now_ms)
end
return {'OK', 1}
