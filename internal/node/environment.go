package node

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// CheckEnvironment refuses variables with chatd's prefix that are no settings: otherwise a typo would be silently
// ignored. It allows those that Kubernetes sets for services, CHATD_URL and CHATD_TOKEN of the commands that call a
// running server, CHATD_PORT of docker-compose.yml, and the variables of the project's tests.
func CheckEnvironment(environ []string) error {
	known := variables()
	var unknown []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "CHATD_") || slices.Contains(known, name) || foreign(name) || serviceLink.MatchString(entry) {
			continue
		}
		unknown = append(unknown, name)
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	return fmt.Errorf("%s: unknown setting; known settings: %s", strings.Join(unknown, ", "), strings.Join(known, " "))
}

// serviceLink matches the variables that Kubernetes sets in each pod for every service of its namespace, here for services
// whose name begins with chatd, such as chatd-redis. (The names are those of
// https://kubernetes.io/docs/tutorials/services/connect-applications-service/ and of Docker's links, which they follow.)
// CHATD_REDIS_PORT is one if it has a URL; a port alone is someone's idea of a setting.
var serviceLink = regexp.MustCompile(`^CHATD_(\w+_)?(SERVICE_HOST=|SERVICE_PORT(_\w+)?=|PORT=(tcp|udp|sctp)://|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?=)`)

func foreign(name string) bool {
	for _, prefix := range []string{"CHATD_E2E_", "CHATD_TEST_", "CHATD_BENCH_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == "CHATD_PORT" || name == "CHATD_URL" || name == "CHATD_TOKEN"
}

// variables returns the environment variables of all settings.
func variables() []string {
	var names []string
	t := reflect.TypeFor[Config]()
	for i := range t.NumField() {
		names = append(names, t.Field(i).Tag.Get("env"))
	}
	return names
}
