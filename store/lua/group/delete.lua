-- Deletes a group, for its owner or an operator.
--
-- KEYS  last_id meta members joined managers seen read msgs skip senders reactions reacted gone_members gone_senders public
--       core:enqueue wants levels notified waiting files files_unused files_named gone_files
-- ARGV  caller operator:flag channel task_id group
-- Returns {OK}
-- Refuses NOTFOUND, FORBIDDEN, HELD
-- include: manage
-- include: remove_group
-- include: hold
local epoch, visibility = unpack(redis.call('HMGET', meta, 'epoch', 'visibility'))
if not epoch then return {'NOTFOUND'} end
local refused = may_manage(visibility, caller, operator)
if refused then return refused end
if not operator and role_of(caller) ~= 'owner' then return {'FORBIDDEN', 'owner'} end
local held = legal_hold()
if held then return held end

remove_group(task_id, caller, clock_ms())
return {'OK'}
