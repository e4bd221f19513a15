package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/chatd/chatd/chat/profiles"
	"github.com/chatd/chatd/store/layout"
)

var fixRowScript = newScript("fix_row", tableNames)

// tables examines the small tables that every node keeps in memory: what a node does not read does not count.
type tables struct{ *exam }

type tableKeys struct{ name, part string }

func (t tableKeys) base() string { return t.part + "t:" + t.name }

var tableNames = names(func(t tableKeys) string { return t.part }, layout.Names(layout.Table, tableKeys.base))

// tableKey examines a key of a table.
func (d *tables) tableKey(ctx context.Context, k key) error {
	t := tableKeys{k.ID, d.keys.part(0)}
	switch k.Pattern {
	case "t:<id>", "t:<id>:used":
		return d.pages(ctx, k.name, func(ids, texts []string) error {
			for i, id := range ids {
				if k.Pattern == "t:<id>" && !isObject(texts[i]) {
					if err := d.found(ctx, Finding{Kind: KindName, Key: k.name, Message: "has the row " + id + ", which cannot be read and does not count"}); err != nil {
						return err
					}
				}
				if err := d.row(ctx, t, id); err != nil {
					return err
				}
			}
			return nil
		})
	case "t:<id>:at":
		return ranges(func(from, to int64) ([]string, error) {
			return d.store.Client().ZRange(ctx, k.name, from, to).Result()
		}, func(ids []string) error {
			for _, id := range ids {
				if err := d.row(ctx, t, id); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return nil
}

func isObject(text string) bool {
	return json.Unmarshal([]byte(text), &map[string]json.RawMessage{}) == nil
}

// row compares what a table says of a row.
func (d *tables) row(ctx context.Context, t tableKeys, id string) error {
	var there, used *redis.BoolCmd
	var at *redis.FloatCmd
	var version *redis.StringCmd
	err := d.instant(ctx, func(pipe redis.Pipeliner) {
		there, used = pipe.HExists(ctx, t.base(), id), pipe.HExists(ctx, t.base()+":used", id)
		at, version = pipe.ZScore(ctx, t.base()+":at", id), pipe.HGet(ctx, t.part+"tables", t.name)
	})
	if err != nil {
		return err
	}
	now, _ := version.Float64() // 0 where there is none
	f := Finding{Kind: KindTable, Key: t.base(), Repair: "give it a new version", fix: d.runs(fixRowScript.On(t).Arg("name", t.name).Arg("id", id))}
	switch {
	case there.Val() && (at.Err() != nil || at.Val() > now):
		f.Message = fmt.Sprintf("has the row %s, which nodes do not read: it has no version, or a higher one than the table", id)
	case !there.Val() && at.Err() == nil:
		f.Key, f.Message = t.base()+":at", fmt.Sprintf("has a version of the row %s, which is not there", id)
	case !there.Val() && used.Val():
		f.Key, f.Message, f.Repair = t.base()+":used", fmt.Sprintf("says when the row %s was used, which is not there", id), "remove that"
	default:
		return nil
	}
	return d.found(ctx, f)
}

// versions looks for tables of which nothing but the version is left.
func (d *tables) versions(ctx context.Context, k key) error {
	return d.pages(ctx, k.name, func(fields, _ []string) error {
		for _, name := range fields {
			t := tableKeys{name, d.keys.part(0)}
			if name == profiles.TableName || strings.HasSuffix(name, ":forgotten") {
				continue // it has no rows, or is no table
			}
			left, err := d.store.Client().Exists(ctx, t.base(), t.base()+":at", t.base()+":gone").Result()
			if err != nil {
				return err
			}
			if left > 0 {
				continue
			}
			if err := d.found(ctx, Finding{Kind: KindTable, Key: k.name, Message: "has the version of the table " + name + ", of which nothing else is left: its rows were lost"}); err != nil {
				return err
			}
		}
		return nil
	})
}
