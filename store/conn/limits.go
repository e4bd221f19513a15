package conn

import "time"

// PipelineMax is how many calls go in one round trip: what is sent ahead fits into a socket buffer or two.
const PipelineMax = 256

// Every other bound of this package, with its reason.
const (
	// If the server is down, the breaker ends a call long before these: they are for a single connection that died silently.
	dialTimeout  = 5 * time.Second
	replyTimeout = 10 * time.Second
	durableWait  = time.Second // how long a send waits for a disk or a replica before it says what it reached

	turns           = 128              // connections of a node: each carries one call at a time, and a busy machine holds calls for long
	turnWaitMax     = 10 * time.Second // for a connection, if the caller has more time than that: below the deadline of an answer
	turnsWaitingMax = 50_000           // callers that wait, each with its request: some kB
	// poolSize is more than turns: go-redis stops dialing for a second after so many failures, which is the breaker's affair.
	poolSize = 32 * turns

	// connBytes is how much each connection buffers in either direction: a page of 50 messages. go-redis would take twice that,
	// for each of the connections that a peak has opened.
	connBytes = 16 << 10

	durableConns      = 8           // connections that wait for a disk or a replica, each for many sends
	durableBatch      = PipelineMax // sends that share a wait
	durableWaitingMax = 10_000      // sends that wait for a connection
	abilitiesEvery    = time.Second // how old what is known about disk and replicas may be

	// A cluster: how often and how long a call is repeated while its slot moves or gets another master.
	redirectsMax     = 64
	redirectPatience = 2 * time.Second // a failover takes longer: an error is better than a longer wait
	redirectPause    = 5 * time.Millisecond
	redirectPauses   = 100 * time.Millisecond
	topologyTick     = 250 * time.Millisecond // between two checks for the new master of a slot
	topologyAge      = 10 * time.Second       // how old the known topology may be while nothing fails

	// The breaker: the first refusal comes after silenceSuspect and pingTimeout at most.
	silenceSuspect  = 200 * time.Millisecond // calls are under way and nothing is answered: a slow script takes less
	patienceTick    = 25 * time.Millisecond
	pingTimeout     = 600 * time.Millisecond // then calls are refused
	pingAgain       = 100 * time.Millisecond // while they are
	pingSeldom      = 10 * time.Second       // while they are and nobody needs the server
	pingTimeoutOpen = time.Second
	pingsMax        = 8 // at the same time

	pingEvery   = 5 * time.Second  // on the subscription, so that a dead connection shows
	silenceMax  = 12 * time.Second // without a pong or anything else the subscription is renewed
	renewDelay  = 50 * time.Millisecond
	renewDelays = 2 * time.Second // the most between two attempts to subscribe again

	subscribeMax  = 1000                 // channels in one SUBSCRIBE
	followsPause  = 3 * time.Millisecond // how long readers that begin at once wait for each other
	followsJoined = PipelineMax / 2      // readers that share a SUBSCRIBE

	fenceWait = 100 * time.Millisecond // for a word that the server has sent already: then asking it costs less
)
