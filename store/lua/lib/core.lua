-- include: int.lua
-- include: task_enqueue.lua
-- include: wants.lua
-- core binds the keys that groupKeys.core lists. Scripts that are not hot take all of them; their own come after.
local core_count = 26
local function core()
  return {
    id = KEYS[1], meta = KEYS[2], members = KEYS[3], joined = KEYS[4], managers = KEYS[5], seen = KEYS[6],
    read = KEYS[7], msgs = KEYS[8], skip = KEYS[9], senders = KEYS[10], reactions = KEYS[11], reacted = KEYS[12],
    gone_members = KEYS[13], gone_senders = KEYS[14], public = KEYS[15], qk = 16, wants = KEYS[24], levels = KEYS[25],
    told = KEYS[26],
  }
end

-- role_of returns the role of a user, or false for one who is no member.
local function role_of(k, user)
  local value = redis.call('HGET', k.members, user)
  return value and string.match(value, '^%S+')
end

-- outside is the refusal for whoever is no member: a private group does not show that it exists.
local function outside(visibility)
  return {visibility == 'public' and 'FORBIDDEN' or 'NOTFOUND'}
end

-- may_manage refuses a caller who is neither operator nor owner or admin; nil: go on.
local function may_manage(k, visibility, by, operator)
  if operator then return nil end
  local role = role_of(k, by)
  if not role then return outside(visibility) end
  if role ~= 'owner' and role ~= 'admin' then return {'FORBIDDEN'} end
  return nil
end
