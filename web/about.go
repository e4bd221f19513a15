package web

import (
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/web/api"
)

// describe serves GET /v1/server, from what is fixed when the server starts and the time.
func (s *Server) describe(services Services) echo.HandlerFunc {
	l := &s.opt.Limits
	about := api.ServerInfo{
		Version: s.opt.Version, Features: orEmpty(s.opt.Features),
		Limits: api.ServerLimits{
			Body: int64(l.BodyBytesMax), Request: int64(l.RequestBytesMax),
			Batch: int64(l.BatchBytesMax), BatchOps: opsMax, Page: int64(l.PageMessagesMax), PageBytes: int64(l.PageBytesMax),
			Members: int64(l.GroupMembersMax), MembersCreated: int64(l.GroupCreateMembers), Groups: int64(l.UserGroupsMax),
			Inbox: int64(l.InboxItemsMax), Mentions: int64(l.MentionsMax), Emoji: int64(l.EmojiBytesMax), Reactions: int64(l.EmojisMax),
			Edits: int64(l.EditsMax), Devices: int64(l.UserDevicesMax), Schedules: int64(l.UserSchedulesMax), Sessions: int64(l.SessionsUserMax),
			WaitS: int64(l.WaitMax / time.Second),
		},
	}
	if services.Accounts != nil {
		about.Accounts, about.Registration = true, given(string(services.Accounts.Registration()))
	}
	return func(c echo.Context) error {
		now := about
		if most := services.Files.SizeMax(); most > 0 {
			now.Limits.File, now.Limits.FilesUser, now.Limits.FilesGroup = &most, &l.UserFilesBytesMax, &l.GroupFilesBytesMax
		}
		if off := s.opt.Dev; off != nil && off.Off != nil && off.Off() {
			now.Features = slices.DeleteFunc(slices.Clone(now.Features), func(name string) bool { return name == "dev" })
		}
		now.Time = chat.TimeMs(time.Now().UnixMilli())
		return c.JSON(http.StatusOK, now)
	}
}
