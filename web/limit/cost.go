package limit

import "github.com/chatd/chatd/chat"

// Cost is what a call takes from its caller's limits. A unit of User is about one short script of the store and its answer.
// A unit of Send is an entry in a log, an item in an inbox, or something that creates one later.
type Cost struct {
	User, Send int
	page       int // how many entries of a page cost one more unit of User; 0: the call has no page
	index      int // looks at each group of its caller, as many as there may be to take: see Weigh; 0: it does not go over them
}

// Every operation of the description and every command of the websocket that costs something else than one unit of User.
// What a call carries in its body is added by Sync and Members.
var costs = map[string]Cost{
	"sendMessage":      {User: 1, Send: 1},
	"send":             {User: 1, Send: 1},
	"sendDirect":       {User: 1, Send: 1},
	"updateGroup":      {User: 1, Send: 1}, // a notice
	"putMember":        {User: 2, Send: 1}, // a notice, the index of the member, an item in their inbox
	"updateMember":     {User: 2, Send: 1}, // a notice
	"removeMember":     {User: 2, Send: 1},
	"putRequest":       {User: 2},
	"answerRequest":    {User: 2, Send: 1},
	"listRequests":     {User: 1, page: 100},
	"putBan":           {User: 2, Send: 1}, // the same
	"listReviews":      {User: 1, page: 100},
	"decideReview":     {User: 2, Send: 1},
	"listBans":         {User: 1, page: 100},
	"createReport":     {User: 2, Send: 1}, // a webhook may hear of it
	"listGroupReports": {User: 1, page: 50},
	"listReports":      {User: 2, page: 50},
	"listAudit":        {User: 5, page: 50}, // looks at many
	"decideReport":     {User: 4, Send: 1},  // a deletion, or a notice
	"putGroupWords":    {User: 5},           // the lists, and twice which groups have some
	"changeMembers":    {User: 3, Send: 1},  // more for each ten: Members
	"createGroup":      {User: 3, Send: 1},
	"acceptInvite":     {User: 3, Send: 1}, // a member more
	"listInvites":      {User: 2},
	"putDirect":        {User: 3, Send: 1},
	"putBlock":         {User: 3}, // in the direct group, too
	"deleteBlock":      {User: 3},
	"deleteGroup":      {User: 5, Send: 1}, // every member's index is updated
	"batch":            {User: 1},          // each op costs what its call does
	"listMessages":     {User: 1, page: 50},
	"pullInbox":        {User: 1, page: 50},
	"listMembers":      {User: 1, page: 100},
	"listGroups":       {User: 1, page: 20, index: 1},               // several reads a group of the page
	"listAllGroups":    {User: 2, page: 10},                         // several reads a group of the page, and looks at those that are sorted
	"listHeldGroups":   {User: 10, page: 10},                        // looks at thousands, and several reads a group of the page
	"exportGroup":      {User: 20},                                  // a stream of pages
	"exportMe":         {User: 100},                                 // the same of all groups of the caller, a few such at a time
	"getUnread":        {User: 3, index: 1 + chat.PageLooks},        // of each with something unread its Info
	"search":           {User: 10, page: 20, index: chat.PageLooks}, // asks the archive, a few such at a time
	"listReceipts":     {User: 3},                                   // reads all members
	"hello":            {User: 5, index: 2},                         // follows them, too
	"openWebsocket":    {User: 1},
	"sync":             {User: 2, index: 1}, // reads more of few only

	"createFile": {User: 2, Send: 1}, // a message may come of it
	"writeFile":  {User: 2},          // the lock, and a step for each piece
	"deleteFile": {User: 2},

	"createSchedule":   {User: 2, Send: 1},
	"runSchedule":      {User: 2, Send: 1},
	"listSchedules":    {User: 1, page: 50},
	"listAllSchedules": {User: 2, page: 50}, // looks at tasks or at notes first
	"listPeriodic":     {User: 1, page: 50},
	"changeTasks":      {User: 5},  // many steps
	"beginExamination": {User: 20}, // the whole store is read
	"testWebhook":      {User: 20}, // another server is asked
	"putDevice":        {User: 2},
	"putDraft":         {User: 2},
	"pressAction":      {User: 2, Send: 1}, // the message is read
	"putQuorum":        {User: 4},          // the message and its readers are read
	"getQuorum":        {User: 2},
	"deleteQuorum":     {User: 2},
	"getPresence":      {User: 10, page: 100}, // reads all members, or all who are there
	"listPresence":     {User: 3},             // more for each twenty
	"focus":            {User: 2},
	"writeStream":      {User: 1},          // one script; its pieces have a rate of their own
	"putPin":           {User: 3, Send: 1}, // the message is read, and a notice
	"deletePin":        {User: 2, Send: 1},
	"listPins":         {User: 2, page: 50},
	"listThreads":      {User: 2, page: 50},
	"listReplies":      {User: 3, page: 50}, // the root is read, too
	"readThread":       {User: 2},
	"followThread":     {User: 2},
	"eraseMe":          {User: 5},
	"listSessions":     {User: 10}, // other nodes are asked
	"disconnectUser":   {User: 5},  // the same
	"revokeTokens":     {User: 2},
	"updateMe":         {User: 2},
	"putAvatar":        {User: 20}, // a picture is decoded
	"deleteAvatar":     {User: 2},
	"getAvatar":        {User: 2},
	"listUsers":        {User: 2, page: 20}, // reads the groups of each
	"getUser":          {User: 2},

	// A password takes as much of a core as some hundred short scripts.
	"register": {User: 20}, "signIn": {User: 20}, "changePassword": {User: 20},
	"signInByProvider": {User: 2}, "providerCallback": {User: 5},
	"refreshTokens": {User: 2}, "signOut": {User: 3}, "endLogin": {User: 3}, "endUserLogin": {User: 3}, "listTasks": {User: 1, page: 50}, "endOtherLogins": {User: 5}, "createCode": {User: 3}, "listAccounts": {User: 5},

	// Probes come from balancers, which may share an address with clients: refusing them would take the node out of service.
	"livez": {}, "readyz": {}, "metrics": {},
}

// CostOf is the cost of an operation or a command; limit is how many entries its page may have, if it has one.
func CostOf(operation string, limit int) Cost {
	c, ok := costs[operation]
	if !ok {
		return Cost{User: 1}
	}
	if c.page > 0 {
		c.User += limit / c.page
	}
	return c
}

// groupsUnit is how many groups that a call looks at cost a unit of User. A look takes Redis about 1.5 us, and the node a
// little more; a short script takes some 40 us.
const groupsUnit = 50

// Groups is the cost of looking at so many groups.
func Groups(n int) Cost { return Cost{User: n / groupsUnit} }

// Sync is what the body of a sync adds: each ack is a script, each named position a look-up.
func Sync(acks, positions, limit int) Cost {
	return Cost{User: acks + positions/20 + limit/50}
}

// Users is the cost of changing so many users, beyond the first.
func Users(n int) Cost { return Cost{User: max(0, n-1)} }

// Members is the added cost of members named at the creation of a group, or together later. They are added together, so ten cost as much as one
// that is added alone.
func Members(n int) Cost {
	return Cost{User: (n + 9) / 10, Send: (n + 9) / 10}
}
