-- include: manage
-- needs: members
-- invitation_of reads an invitation as `invites` of a group has it; text(i) writes it.
local function invitation_of(record)
  local i = {}
  i.hash, i.by, i.trusted, i.role, i.uses, i.used, i.expires_ms, i.revoked, i.made_ms, i.note =
    string.match(record, '^(%S+) (%S+) (%d) (%S+) (%d+) (%d+) (%d+) (%d) (%d+) (.*)$')
  return i
end

local function invitation_text(i)
  return table.concat({i.hash, i.by, i.trusted, i.role, i.uses, i.used, i.expires_ms, i.revoked, i.made_ms, i.note}, ' ')
end

-- invitation_open tells whether it can be used, as far as it says that itself.
local function invitation_open(i, now_ms)
  return i.revoked == '0' and tonumber(i.used) < tonumber(i.uses) and (i.expires_ms == '0' or tonumber(i.expires_ms) > now_ms)
end

-- may_invite tells whether its maker still manages the group. Of operators and keys the caller of the script knows more.
local function may_invite(i)
  if i.trusted == '1' then return true end
  local role = role_of(i.by)
  return role == 'owner' or role == 'admin'
end
