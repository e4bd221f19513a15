package conn_test

import (
	"strings"
	"testing"

	"github.com/chatd/chatd/store/conn"
)

func TestCheckURL(t *testing.T) {
	for raw, want := range map[string]string{ // part of the error; empty: none
		"redis://localhost":                                       "",
		"redis://localhost:6379/0":                                "",
		"redis://user:secret@localhost:6379?db=3":                 "",
		"redis://:secret@[::1]:6379/0":                            "",
		"rediss://localhost/1?skip_verify=true":                   "",
		"redis-sentinel://a:26379,b:26379/0?master_name=main":     "",
		"redis-sentinel://a:26379, b:26379/0?master_name=main":    "",
		"redis-sentinel://a,b,[::1]:26379/?master_name=main&db=2": "",
		"redis-sentinel://u:p@a/main":                             "",
		"redis-sentinel://a/main/3?tls=true&sentinel_password=x":  "",
		"":                               "redis://",
		"http://localhost":               "begins with",
		"redis-cluster://localhost:7000": "",
		"redis-cluster://u:p@a:1,b,[::1]:3/?partitions=16":   "",
		"rediss-cluster://a,b?skip_verify=true":              "",
		"redis-cluster://":                                   "host is missing",
		"redis-cluster://a,,b":                               "host is missing",
		"redis-cluster://a/1":                                "no databases",
		"redis-cluster://a?db=1":                             `"db"`,
		"redis-cluster://a?skip_verify=true":                 `"skip_verify"`,
		"redis-cluster://a?partitions=0":                     "from 1 to",
		"redis-cluster://a?partitions=many":                  "from 1 to",
		"redis-cluster://u:canary@a:x":                       "host is missing",
		"redis://":                                           "host is missing",
		"redis://local host":                                 "host is missing",
		"redis://localhost:66000":                            "host is missing",
		"redis://localhost:x":                                "host is missing",
		"redis://a,b":                                        "several hosts",
		"redis://localhost/x":                                "database",
		"redis://localhost/-1":                               "database",
		"redis://localhost/1/2":                              "more than one database",
		"redis://localhost/1?db=2":                           "more than one database",
		"redis://localhost#0":                                "want redis://",
		"redis://localhost?pool_size=3":                      `"pool_size"`,
		"redis://localhost?skip_verify=true":                 `"skip_verify"`,
		"rediss://localhost?skip_verify=yes":                 "true or false",
		"redis://localhost?db=1&db=2":                        "more than once",
		"redis://localhost?%zz":                              "name=value",
		"redis-sentinel://a:26379":                           "master_name",
		"redis-sentinel://a:26379/0":                         "master_name",
		"redis-sentinel://a/main?mastername=x":               `"mastername"`,
		"redis-sentinel://a/0/1?master_name=main":            "more than one database",
		"redis-sentinel:///0?master_name=main":               "host is missing",
		"redis-sentinel://a,,b/0?master_name=main":           "host is missing",
		"redis-sentinel://a/0?master_name=main&tls=maybe":    "true or false",
		"redis://u:canary@localhost:x/0":                     "host is missing",
		"redis-sentinel://u:canary@a/0?master_name=m&p@ss=x": "not a plain name",
		"redis://u:12/canary@host/0":                         "database", "redis://u:12?canary@host": "not a plain name",
	} {
		err := conn.CheckURL(raw)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: got error %v", raw, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got error %v, want one about %q", raw, err, want)
		case err != nil && strings.Contains(err.Error(), "canary"):
			t.Errorf("%s: the error shows the password: %v", raw, err)
		}
	}
}
