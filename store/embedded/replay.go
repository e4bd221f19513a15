package embedded

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// ReplayError means that replaying a whole record did not give the recorded result.
type ReplayError struct {
	File   string
	Offset int64
	Record uint64
	Reason string
}

func (e *ReplayError) Error() string {
	return fmt.Sprintf("embedded: %s: record %d at byte %d cannot be replayed: %s (nothing was changed; run erase -now with the "+
		"version of chatd that wrote it, which replaces the journal by a snapshot)", e.File, e.Record, e.Offset, e.Reason)
}

// replay repeats the calls of journals.
type replay struct {
	journals *journals
	engine   *engine
	seq      uint64 // number of the last record
	cut      int64  // bytes of a torn tail
}

// journalReplay is the state that a journal's records refer to.
type journalReplay struct {
	*replay
	ctx     context.Context
	name    string
	j       *journal
	scripts []*script // by number of the source record
	next    uint64    // generation in which the journal continues, once it has ended
}

// journal replays one journal. It returns what is needed to append to it; next is 0 unless the journal has ended.
func (r *replay) journal(ctx context.Context, gen uint64) (j *journal, next uint64, err error) {
	path := filepath.Join(r.journals.opts.Dir, journalName(gen))
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, fmt.Errorf("embedded: %w", err)
	}
	h, err := decodeHeader(path, journalMagic, gen, data)
	if err != nil {
		return nil, 0, err
	}
	jr := &journalReplay{replay: r, ctx: ctx, name: path}
	jr.j = &journal{name: path, gen: gen, salt: h.salt, sources: map[string]int{}}
	end, err := frames(path, data, headerBytes, h.salt, r.seq+1, jr.record)
	if err != nil {
		return nil, 0, err
	}
	if r.cut = int64(len(data) - end); jr.next != 0 && r.cut > 0 {
		return nil, 0, &DamageError{path, int64(end), "bytes follow the end of the journal"}
	}
	jr.j.size, jr.j.seq = int64(end), r.seq
	return jr.j, jr.next, nil
}

// record replays one record.
func (r *journalReplay) record(off int, seq uint64, payload []byte) (err error) {
	refuse := func(reason string) error {
		return &ReplayError{File: r.name, Offset: int64(off), Record: seq, Reason: reason}
	}
	if r.next != 0 {
		return &DamageError{r.name, int64(off), "a record follows the end of the journal"}
	}
	if len(payload) == 0 {
		return refuse("it is empty")
	}
	if seq%1024 == 0 && r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	defer func() {
		if p := recover(); p != nil {
			err = &ReplayError{File: r.name, Offset: int64(off), Record: seq, Reason: fmt.Sprint("panic: ", p)}
		}
	}()
	kind, body := payload[0], payload[1:]
	reason := ""
	switch kind {
	case kindCall:
		reason = r.call(body)
	case kindSource:
		reason = r.source(string(body))
	case kindMarker:
		d := decoder{b: body}
		if synced := d.uvarint(); d.end() != nil || synced >= seq {
			reason = "the sync marker cannot be decoded"
		}
	case kindEnd:
		d := decoder{b: body}
		digest := d.uint32()
		r.next = d.uvarint()
		switch {
		case d.end() != nil || r.next != r.j.gen+1:
			reason = "the end record cannot be decoded"
		case digest != r.j.digest:
			reason = "the last call had another effect than when it was recorded"
		}
	default:
		reason = fmt.Sprintf("it has the unknown kind %q", kind)
	}
	if reason != "" {
		return refuse(reason)
	}
	r.seq = seq
	return nil
}

func (r *journalReplay) source(source string) (reason string) {
	if message := r.engine.learn(source, false); message != "" {
		return "its script is refused: " + message
	}
	sha := hashSource(source)
	r.j.sources[sha] = len(r.scripts)
	r.scripts = append(r.scripts, r.engine.scripts[sha])
	return ""
}

func (r *journalReplay) call(body []byte) (reason string) {
	rec, err := decodeCall(body)
	if err != nil {
		return err.Error()
	}
	us := r.j.lastUs + int64(rec.sinceUs)
	switch {
	case rec.source >= uint64(len(r.scripts)):
		return "its script is not in the journal"
	case us < r.journals.clock.lastUs:
		return "its time is before that of the previous record"
	case rec.digest != r.j.digest:
		return "the call before it had another effect than when it was recorded"
	}
	c := &call{script: r.scripts[rec.source], us: us, keys: int(rec.keys), args: rec.args, journaled: true}
	r.journals.order.Lock()
	defer r.journals.order.Unlock()
	r.engine.runScript(c)
	if !c.wrote {
		return "it changed nothing, but did when it was recorded"
	}
	r.j.digest, r.j.lastUs, r.journals.clock.lastUs = c.digest, us, us
	r.j.calls++
	return ""
}
