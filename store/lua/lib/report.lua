-- report_of reads what `reporters` has of a report.
local function report_of(text)
  local target, by, from, at_ms, lease_ms, lease = string.match(text, '^(%d+) (%S+) (%S+) (%d+) (%d+) (%S+)$')
  return {target = tonumber(target), by = by, from = from, at_ms = tonumber(at_ms), lease_ms = tonumber(lease_ms), lease = lease,
    head = target .. ' ' .. by .. ' ' .. from .. ' ' .. at_ms}
end
