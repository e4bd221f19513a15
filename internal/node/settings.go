package node

import (
	"net/url"
	"os"
	"reflect"
	"strings"

	"github.com/chatd/chatd/web/api"
)

// showSettings describes the settings of a node for operators.
func showSettings(n *Node) api.Settings {
	return api.Settings{Node: n.services.Notifications.Node(), Settings: n.set.show()}
}

// show describes each setting: its value, where that is from, and what is allowed. It shows no secret.
func (s settings) show() (shown []api.Setting) {
	values, given := reflect.ValueOf(s.Config), reflect.ValueOf(s.given)
	for i := range values.NumField() {
		row := values.Type().Field(i).Tag
		value := settingText(values.Field(i))
		_, secret := row.Lookup("secret")
		one := api.Setting{
			Key: row.Get("env"), Set: value != "", Secret: secret, Default: row.Get("default"), Allowed: allowedFor(values.Field(i), row), Help: row.Get("help"),
			Source: s.sourceOf(row, settingText(given.Field(i))),
		}
		if text, public := publicText(value); public && !secret {
			one.Value = &text
		}
		shown = append(shown, one)
	}
	return shown
}

// settingText is a setting as it could have been given.
func settingText(v reflect.Value) string {
	if list, ok := v.Interface().([]string); ok {
		return strings.Join(list, ",")
	}
	return v.String()
}

// sourceOf tells where the given value of a row is from. A flag or a variable that says the default cannot be told from none.
func (s settings) sourceOf(row reflect.StructTag, given string) api.SettingSource {
	key := row.Get("env")
	inEnvironment := strings.Join(trimmed(strings.Split(os.Getenv(key), ",")), ",")
	switch {
	case key == "CHATD_REDIS" && s.RedisFile != "", key == "CHATD_JWT_SECRET" && s.JWTSecretFile != "":
		return api.SettingSourceFile
	case given == "" || given == row.Get("default"):
		return api.SettingSourceDefault
	case given == os.Getenv(key) || given == inEnvironment:
		return api.SettingSourceEnvironment
	}
	return api.SettingSourceFlag
}

// publicText is what of a value may be shown, if any may. Addresses have credentials in their user and in their query.
func publicText(value string) (text string, public bool) {
	if !strings.Contains(value, "://") || strings.Contains(value, ",") && !strings.Contains(value, "@") && !strings.Contains(value, "?") {
		return value, true // no address, or a list of plain ones
	}
	u, err := url.Parse(value)
	if err != nil {
		return "", false
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return u.String(), true
}

// allowedFor says what a setting may be, as the error for anything else does; empty: its help says it.
func allowedFor(v reflect.Value, row reflect.StructTag) string {
	for _, wrong := range []interface{ check(reflect.StructTag) error }{number("?"), duration("?"), rate("?"), choice("?")} {
		if reflect.TypeOf(wrong) == v.Type() {
			return strings.TrimPrefix(wrong.check(row).Error(), "want ")
		}
	}
	return ""
}
