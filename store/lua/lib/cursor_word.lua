-- cursor_word begins the signal of a cursor: c, whom others see unless they hide; cr, whom all see; cq, whom nobody else sees.
local function cursor_word(receipts)
  if not receipts or receipts == 'optional' then return 'c' end
  return receipts == 'required' and 'cr' or 'cq'
end
