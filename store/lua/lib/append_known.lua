-- append_known answers with what a retry key stands for, if that has the same content.
-- needs: content
local function append_known(value)
  return string.match(value, '^%d+ %d+ %S+ (.*)$') == content and value or {'KEYREUSED'}
end
