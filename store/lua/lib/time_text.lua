-- time_text writes a time in ms as the wire shows it, in UTC.
local function time_text(ms)
  local days = math.floor(ms / 86400000)
  local rest = ms - days * 86400000
  -- Years that begin in March have their leap day at the end, and 400 of them are 146097 days.
  local from = days + 719468
  local age = math.floor(from / 146097)
  local day = from - age * 146097
  local year = math.floor((day - math.floor(day / 1460) + math.floor(day / 36524) - math.floor(day / 146096)) / 365)
  day = day - (365 * year + math.floor(year / 4) - math.floor(year / 100))
  local month = math.floor((5 * day + 2) / 153)
  day = day - math.floor((153 * month + 2) / 5) + 1
  month = month < 10 and month + 3 or month - 9
  year = year + age * 400 + (month <= 2 and 1 or 0)
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year, month, day, math.floor(rest / 3600000), math.floor(rest / 60000) % 60,
    math.floor(rest / 1000) % 60, rest % 1000)
end
