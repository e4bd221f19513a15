package web

import (
	"context"
	"time"

	"github.com/chatd/chatd/chat/quorum"
	"github.com/chatd/chatd/web/api"
	"github.com/chatd/chatd/web/wire"
)

type quorumHandlers struct {
	quorums *quorum.Service
	polls   *polls
}

// PutQuorum serves PUT /v1/groups/{group}/messages/{id}/quorum.
func (h quorumHandlers) PutQuorum(ctx context.Context, r api.PutQuorumRequestObject) (api.PutQuorumResponseObject, error) {
	d, err := r.Body.Draft()
	if err != nil {
		return nil, err
	}
	q, created, err := h.quorums.Put(ctx, callerOf(ctx), r.Group, r.Id, d)
	if err != nil {
		return nil, err
	}
	if created {
		return api.PutQuorum201JSONResponse(quorumView(q)), nil
	}
	return api.PutQuorum200JSONResponse(quorumView(q)), nil
}

// GetQuorum serves GET /v1/groups/{group}/messages/{id}/quorum.
func (h quorumHandlers) GetQuorum(ctx context.Context, r api.GetQuorumRequestObject) (api.GetQuorumResponseObject, error) {
	if deref(r.Params.WaitS) < 0 {
		return nil, wire.ErrNegative("wait_s")
	}
	return poll(ctx, h.polls, deref(r.Params.WaitS) > 0, func(ctx context.Context, wait bool) (api.GetQuorumResponseObject, error) {
		var most time.Duration
		if wait {
			most = h.polls.waitOf(r.Params.WaitS)
			callOf(ctx).leaveTurn()
		}
		q, err := h.quorums.Get(ctx, callerOf(ctx), r.Group, r.Id, limitOf(r.Params.Limit), deref(r.Params.Cursor), most)
		if err != nil {
			return nil, err
		}
		return api.GetQuorum200JSONResponse(quorumView(q)), nil
	})
}

// DeleteQuorum serves DELETE /v1/groups/{group}/messages/{id}/quorum.
func (h quorumHandlers) DeleteQuorum(ctx context.Context, r api.DeleteQuorumRequestObject) (api.DeleteQuorumResponseObject, error) {
	return api.DeleteQuorum204Response{}, h.quorums.Drop(ctx, callerOf(ctx), r.Group, r.Id)
}

// quorumView is how a quorum is served.
func quorumView(q quorum.Standing) api.Quorum {
	v := api.Quorum{State: api.QuorumState(q.State), Group: q.Group, Id: q.ID, By: q.By, Until: q.Until.UTC(), Of: q.Of, Read: q.Read,
		Pending: orEmpty(q.Pending), Next: next(q.Next), Escalate: orEmpty(q.Escalate), Reminders: []api.QuorumSent{}}
	switch {
	case q.Need.Percent > 0:
		v.Need.Percent = &q.Need.Percent
	case q.Need.Count > 0:
		v.Need.Count = &q.Need.Count
	default:
		users := orEmpty(q.Need.Users)
		v.Need.Users = &users
	}
	if q.DecidedAt != nil {
		at := q.DecidedAt.UTC()
		v.DecidedAt = &at
	}
	for i, r := range q.Remind {
		v.Reminders = append(v.Reminders, api.QuorumSent{AfterS: r.AfterS, Via: api.QuorumSentVia(r.Via), At: q.At.Add(time.Duration(r.AfterS) * time.Second).UTC(), Sent: i < q.Reminded})
	}
	return v
}
