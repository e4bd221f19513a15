-- notice_users is what a notice says about whom it concerns: one user, or up to 100. Ids need no escaping in JSON.
local function notice_users(users)
  if #users == 1 then return '"user":"' .. users[1] .. '"' end
  return '"users":["' .. table.concat(users, '","') .. '"]'
end
