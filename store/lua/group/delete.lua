-- Deletes a group, for its owner or an operator.
--
-- KEYS  last_id meta members member_data joined managers seen read msgs skip senders reactions reacted gone_members gone_senders public named
--       core:enqueue wants levels notified mutes slow expires bans banned requests asked invites invited reviews reviewed waiting files files_unused files_named gone_files reports reporters
--       reported pins pinned streams streamed threads replies pressed here quorums at_all audit
-- ARGV  caller operator:flag was_epoch was_version channel task_id group audit_id audited audits_max:int
--   was_epoch, was_version  what the deletion was decided by; '': by nothing
--   audit_id, audited       what the audit gets of it
-- Returns {OK}
-- Refuses NOTFOUND, FORBIDDEN, CONFLICT, HELD
-- include: manage
-- include: audit
-- include: remove_group
-- include: hold
-- include: version
local epoch, visibility, version = unpack(redis.call('HMGET', meta, 'epoch', 'visibility', 'version'))
if not epoch then return {'NOTFOUND'} end
local refused = may_manage(visibility, caller, operator)
if refused then return refused end
if not operator and role_of(caller) ~= 'owner' then return {'FORBIDDEN', 'owner'} end
local other = other_version(epoch, version, was_epoch, was_version)
if other then return other end
local held = legal_hold()
if held then return held end

note_audit(epoch, audit_id, audited)
remove_group(task_id, caller, clock_ms())
return {'OK'}
