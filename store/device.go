package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat"
	"github.com/chatd/chatd/chat/notify"
)

var (
	devicePutScript  = newScript("device/put", userNames)
	deviceDropScript = newFreeing("device/drop", userNames)
	awayScript       = newReader("device/away", partNames)
)

// PutDevice registers a device, or changes its address.
func (s *Notifications) PutDevice(ctx context.Context, user string, d notify.Device) (notify.Device, bool, error) {
	rest, err := json.Marshal(d)
	if err != nil {
		return notify.Device{}, false, broke("device_put", err)
	}
	r, err := s.runSafe(ctx, devicePutScript.On(s.keys.user(user)).Arg("user", user).Arg("id", d.ID).
		Arg("created_ms", d.CreatedAt.UnixMilli()).Arg("kind", string(d.Kind)).Arg("secret", orDash(d.Secret)).Arg("rest", rest).
		Arg("devices_max", s.limits.UserDevicesMax))
	if err != nil {
		return notify.Device{}, false, err
	}
	kept, err := decodeDevice(d.ID, r.text(2))
	return kept, r.number(1) == 1, err
}

// encodeDevice is a device as device/put.lua keeps it.
func encodeDevice(d notify.Device) (string, error) {
	rest, err := json.Marshal(d)
	if err != nil {
		return "", broke("device", err)
	}
	return fmt.Sprintf("%d %s %s %s", d.CreatedAt.UnixMilli(), d.Kind, orDash(d.Secret), rest), nil
}

func decodeDevice(id, stored string) (notify.Device, error) {
	fields := strings.SplitN(stored, " ", 4)
	if len(fields) != 4 {
		return notify.Device{}, broke("device", fmt.Errorf("device %s cannot be read", id))
	}
	d := notify.Device{}
	if err := json.Unmarshal([]byte(fields[3]), &d); err != nil {
		return notify.Device{}, broke("device", fmt.Errorf("device %s cannot be read: %w", id, err))
	}
	ms, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return notify.Device{}, broke("device", fmt.Errorf("device %s has no valid time: %w", id, err))
	}
	d.ID, d.CreatedAt = id, chat.TimeMs(ms)
	if fields[2] != "-" {
		d.Secret = fields[2]
	}
	return d, nil
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// DropDevice removes a device; if is is given, only if the device is still that one.
func (s *Notifications) DropDevice(ctx context.Context, user, id string, is *notify.Device) error {
	text := ""
	if is != nil {
		var err error
		if text, err = encodeDevice(*is); err != nil {
			return err
		}
	}
	return s.doSafe(ctx, deviceDropScript.On(s.keys.user(user)).Arg("user", user).Arg("id", id).Arg("is", text))
}

// Devices reads the devices of each user.
func (s *Notifications) Devices(ctx context.Context, users []string) ([][]notify.Device, error) {
	all := make([][]notify.Device, 0, len(users))
	for chunk := range slices.Chunk(users, pipelineMax) {
		var found []*redis.MapStringStringCmd
		err := s.reads(ctx, func(pipe redis.Pipeliner) {
			found = found[:0]
			for _, user := range chunk {
				found = append(found, pipe.HGetAll(ctx, s.keys.user(user).devices()))
			}
		})
		if err != nil {
			return nil, err
		}
		for _, cmd := range found {
			devices := make([]notify.Device, 0, len(cmd.Val()))
			for id, stored := range cmd.Val() {
				d, err := decodeDevice(id, stored)
				if err != nil {
					return nil, err
				}
				devices = append(devices, d)
			}
			all = append(all, devices)
		}
	}
	return all, nil
}

// Reach reads one device and whether its user is offline, in one round trip.
func (s *Notifications) Reach(ctx context.Context, user, id string) (d notify.Device, away bool, err error) {
	var stored *redis.StringCmd
	var state *redis.Cmd
	err = s.reads(ctx, func(pipe redis.Pipeliner) {
		stored = pipe.HGet(ctx, s.keys.user(user).devices(), id)
		state = awayCall(s.keys.home(user), []string{user}).Send(ctx, pipe)
	})
	if err != nil {
		return notify.Device{}, false, err
	}
	r, err := asReply(awayScript.Name, state.Val())
	if err != nil {
		return notify.Device{}, false, err
	}
	if stored.Val() == "" {
		return notify.Device{}, r.number(2) == 0, nil
	}
	d, err = decodeDevice(id, stored.Val())
	return d, r.number(2) == 0, err
}

// Away picks the users who have a device and no live session.
func (s *Notifications) Away(ctx context.Context, users []string) (away, live []string, err error) {
	var calls []call
	var asked [][]string
	for p, some := range s.byPartition(users) {
		for chunk := range slices.Chunk(some, rangeBatch) {
			calls, asked = append(calls, awayCall(s.keys.part(p), chunk)), append(asked, chunk)
		}
	}
	replies, err := s.runReads(ctx, calls)
	if err != nil {
		return nil, nil, err
	}
	for i, r := range replies {
		for j, user := range asked[i] {
			switch {
			case r.number(1+2*j) == 0:
			case r.number(2+2*j) == 0:
				away = append(away, user)
			default:
				live = append(live, user)
			}
		}
	}
	return away, live, nil
}

// awayCall asks about users of one partition.
func awayCall(p *partKeys, users []string) call {
	return awayScript.Sized(p, len(users)).List("users", users)
}

// byPartition groups users by their partition.
func (s *base) byPartition(users []string) [][]string {
	parts := make([][]string, s.partitions())
	for _, user := range users {
		p := s.keys.partition(user)
		parts[p] = append(parts[p], user)
	}
	return parts
}
